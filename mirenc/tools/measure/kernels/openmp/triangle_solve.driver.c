#include "inputs.h"

const char mirenc_function[] = "triangle_solve";
const long mirenc_sizes[] = {5, 66, 250, 720, 15000, 0};
const char mirenc_types[] = "d";
static long n;
static double *lower, *b, *x;

int mirenc_setup(long size)
{
    n = size;
    lower = doubles(32 * 32);
    b = doubles(32 * n);
    x = doubles(32 * n);
    return keep(x, 32 * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const double *, const double *, double *))kernel)(n, lower, b, x);
}
