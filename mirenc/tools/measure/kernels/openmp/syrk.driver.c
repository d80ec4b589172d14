#include "inputs.h"

const char mirenc_function[] = "syrk";
const long mirenc_sizes[] = {25, 39, 57, 86, 200, 0};
const char mirenc_types[] = "f";
static long n;
static float *a, *c;

int mirenc_setup(long size)
{
    n = size;
    a = floats(n * n);
    c = floats(n * n);
    return keep(c, n * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const float *, float *))kernel)(n, a, c);
}
