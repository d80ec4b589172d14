#include "inputs.h"

const char mirenc_function[] = "prefix_blocks";
const long mirenc_sizes[] = {17, 35, 160, 600, 3400, 0};
const char mirenc_types[] = "l";
static long n, *values, *sums;

int mirenc_setup(long size)
{
    n = size;
    values = longs(512 * n);
    sums = longs(512 * n);
    return keep(sums, 512 * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const long *, long *))kernel)(n, values, sums);
}
