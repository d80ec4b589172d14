#include "inputs.h"

const char mirenc_function[] = "largest";
const long mirenc_sizes[] = {1100, 21000, 81000, 290000, 1200000, 0};
const char mirenc_types[] = "f";
static long n;
static float *values, *result;

int mirenc_setup(long size)
{
    n = size;
    values = floats(n);
    result = floats(2);
    return keep(result, 2);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const float *, float *))kernel)(n, values, result);
}
