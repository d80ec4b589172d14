#include "inputs.h"

const char mirenc_function[] = "small_matrices";
const long mirenc_sizes[] = {85, 1200, 4200, 12000, 200000, 0};
const char mirenc_types[] = "f";
static long n;
static float *a, *b, *c;

int mirenc_setup(long size)
{
    n = size;
    a = floats(16 * n);
    b = floats(16 * n);
    c = floats(16 * n);
    return keep(c, 16 * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const float *, const float *, float *))kernel)(n, a, b, c);
}
