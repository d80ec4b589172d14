#include "inputs.h"

const char mirenc_function[] = "gemv_columns";
const long mirenc_sizes[] = {53, 170, 310, 510, 1600, 0};
const char mirenc_types[] = "d";
static long n;
static double *a, *x, *y;

int mirenc_setup(long size)
{
    n = size;
    a = doubles(n * n);
    x = doubles(n);
    y = doubles(n);
    return keep(y, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const double *, const double *, double *))kernel)(n, a, x, y);
}
