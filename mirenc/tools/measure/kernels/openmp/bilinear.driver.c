#include "inputs.h"

const char mirenc_function[] = "bilinear";
const long mirenc_sizes[] = {53, 100, 180, 290, 630, 0};
const char mirenc_types[] = "d";
static long n;
static double *a, *x, *y, *result;

int mirenc_setup(long size)
{
    n = size;
    a = doubles(n * n);
    x = doubles(n);
    y = doubles(n);
    result = doubles(1);
    return keep(result, 1);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const double *, const double *, const double *, double *))kernel)(n, a, x, y, result);
}
