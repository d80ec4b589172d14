#include "inputs.h"

const char mirenc_function[] = "count_rank";
const long mirenc_sizes[] = {37, 120, 230, 400, 890, 0};
const char mirenc_types[] = "i";
static long n;
static float *values;
static int *rank;

int mirenc_setup(long size)
{
    n = size;
    values = floats(n);
    rank = ints(n, 1);
    return keep(rank, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const float *, int *))kernel)(n, values, rank);
}
