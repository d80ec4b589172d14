#include "inputs.h"

const char mirenc_function[] = "histogram_blocks";
const long mirenc_sizes[] = {2, 30, 91, 300, 4900, 0};
const char mirenc_types[] = "i";
static long n;
static float *values;
static int *bins;

int mirenc_setup(long size)
{
    n = size;
    values = floats(1024 * n);
    bins = ints(64 * n, 1);
    return keep(bins, 64 * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const float *, int *))kernel)(n, values, bins);
}
