#include "inputs.h"

const char mirenc_function[] = "triangle_product";
const long mirenc_sizes[] = {59, 210, 370, 650, 2100, 0};
const char mirenc_types[] = "d";
static long n;
static double *lower, *x, *y;

int mirenc_setup(long size)
{
    n = size;
    lower = doubles(n * n);
    x = doubles(n);
    y = doubles(n);
    return keep(y, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const double *, const double *, double *))kernel)(n, lower, x, y);
}
