#include "inputs.h"

const char mirenc_function[] = "bits";
const long mirenc_sizes[] = {1100, 37000, 120000, 300000, 1200000, 0};
const char mirenc_types[] = "l";
static long n, *left, *right, *result;

int mirenc_setup(long size)
{
    n = size;
    left = longs(n);
    right = longs(n);
    result = longs(1);
    return keep(result, 1);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const long *, const long *, long *))kernel)(n, left, right, result);
}
