#include "inputs.h"

const char mirenc_function[] = "dot";
const long mirenc_sizes[] = {3500, 24000, 91000, 260000, 1200000, 0};
const char mirenc_types[] = "d";
static long n;
static double *x, *y, *result;

int mirenc_setup(long size)
{
    n = size;
    x = doubles(n);
    y = doubles(n);
    result = doubles(1);
    return keep(result, 1);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const double *, const double *, double *))kernel)(n, x, y, result);
}
