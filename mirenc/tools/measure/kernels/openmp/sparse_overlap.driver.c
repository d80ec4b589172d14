#include "inputs.h"

const char mirenc_function[] = "sparse_overlap";
const long mirenc_sizes[] = {62, 290, 900, 2500, 28000, 0};
const char mirenc_types[] = "i";
static long n;
static int *start, *column, *shared;

int mirenc_setup(long size)
{
    n = size;
    start = row_starts(n, 20, LONG_FIRST);
    column = ascending_columns(n, start, 4 * n);
    shared = ints(n, 1);
    return keep(shared, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const int *, const int *, int *))kernel)(n, start, column, shared);
}
