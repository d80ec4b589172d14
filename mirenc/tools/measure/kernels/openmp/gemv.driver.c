#include "inputs.h"

const char mirenc_function[] = "gemv";
const long mirenc_sizes[] = {38, 130, 250, 460, 1700, 0};
const char mirenc_types[] = "f";
static long n;
static float *a, *x, *y;

int mirenc_setup(long size)
{
    n = size;
    a = floats(n * n);
    x = floats(n);
    y = floats(n);
    return keep(y, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const float *, const float *, float *))kernel)(n, a, x, y);
}
