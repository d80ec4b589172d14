#include "inputs.h"

const char mirenc_function[] = "triangles";
const long mirenc_sizes[] = {31, 67, 140, 330, 1400, 0};
const char mirenc_types[] = "l";
static long n, *result;
static int *start, *neighbour;

int mirenc_setup(long size)
{
    n = size;
    start = row_starts(n, 6, LONG_FIRST);
    neighbour = ascending_columns(n, start, n);
    result = longs(1);
    return keep(result, 1);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const int *, const int *, long *))kernel)(n, start, neighbour, result);
}
