#include "inputs.h"

const char mirenc_function[] = "floyd_warshall";
const long mirenc_sizes[] = {170, 300, 650, 1100, 2700, 0};
const char mirenc_types[] = "f";
static long n;
static float *from, *to;

int mirenc_setup(long size)
{
    n = size;
    from = floats(n * n);
    to = floats(n * n);
    return keep(to, n * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const float *, float *))kernel)(n, from, to);
}
