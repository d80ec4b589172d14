#include "inputs.h"

const char mirenc_function[] = "sparse_scale";
const long mirenc_sizes[] = {99, 410, 1300, 4000, 18000, 0};
const char mirenc_types[] = "d";
static long n;
static int *start;
static double *value, *scaled;

int mirenc_setup(long size)
{
    n = size;
    start = row_starts(n, 16, LONG_LAST);
    value = doubles(start[n]);
    scaled = doubles(start[n]);
    return keep(scaled, start[n]);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const int *, const double *, double *))kernel)(n, start, value, scaled);
}
