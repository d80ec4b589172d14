#include "inputs.h"

const char mirenc_function[] = "primes";
const long mirenc_sizes[] = {130, 710, 1900, 4200, 13000, 0};
const char mirenc_types[] = "l";
static long n, *result;

int mirenc_setup(long size)
{
    n = size;
    result = longs(1);
    return keep(result, 1);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, long *))kernel)(n, result);
}
