#include "inputs.h"

const char mirenc_function[] = "pagerank";
const long mirenc_sizes[] = {470, 780, 4000, 9300, 27000, 0};
const char mirenc_types[] = "d";
static long n;
static int *start, *source;
static double *share, *rank;

int mirenc_setup(long size)
{
    n = size;
    start = row_starts(n, 16, LONG_FIRST);
    source = ints(start[n], n);
    share = doubles(n);
    rank = doubles(n);
    return keep(rank, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const int *, const int *, const double *, double *))kernel)(n, start, source, share, rank);
}
