#include "inputs.h"

const char mirenc_function[] = "layer";
const long mirenc_sizes[] = {3, 45, 140, 540, 9300, 0};
const char mirenc_types[] = "f";
static long n;
static float *rows, *weights, *bias, *after;

int mirenc_setup(long size)
{
    n = size;
    rows = floats(32 * n);
    weights = floats(32 * 32);
    bias = floats(32);
    after = floats(32 * n);
    return keep(after, 32 * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const float *, const float *, const float *, float *))kernel)(n, rows, weights, bias, after);
}
