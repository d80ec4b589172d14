#include "inputs.h"

const char mirenc_function[] = "sparse_even";
const long mirenc_sizes[] = {910, 4500, 12000, 36000, 190000, 0};
const char mirenc_types[] = "d";
static long n;
static int *column;
static double *value, *x, *y;

int mirenc_setup(long size)
{
    n = size;
    column = ints(7 * n, n);
    value = doubles(7 * n);
    x = doubles(n);
    y = doubles(n);
    return keep(y, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const int *, const double *, const double *, double *))kernel)(n, column, value, x, y);
}
