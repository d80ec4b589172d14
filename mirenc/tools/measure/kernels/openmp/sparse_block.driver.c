#include "inputs.h"

const char mirenc_function[] = "sparse_block";
const long mirenc_sizes[] = {79, 760, 2800, 7800, 25000, 0};
const char mirenc_types[] = "f";
static long n;
static int *start, *column;
static float *value, *x, *y;

int mirenc_setup(long size)
{
    n = size;
    start = row_starts(n, 10, LONG_FIRST);
    column = ints(start[n], n);
    value = floats(start[n]);
    x = floats(8 * n);
    y = floats(8 * n);
    return keep(y, 8 * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const int *, const int *, const float *, const float *, float *))kernel)(
        n, start, column, value, x, y);
}
