#include "inputs.h"

const char mirenc_function[] = "sparse_rows";
const long mirenc_sizes[] = {140, 1600, 5300, 15000, 53000, 0};
const char mirenc_types[] = "d";
static long n;
static int *start, *column;
static double *value, *x, *y;

int mirenc_setup(long size)
{
    n = size;
    start = row_starts(n, 12, MIXED);
    column = ints(start[n], n);
    value = doubles(start[n]);
    x = doubles(n);
    y = doubles(n);
    return keep(y, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const int *, const int *, const double *, const double *, double *))kernel)(
        n, start, column, value, x, y);
}
