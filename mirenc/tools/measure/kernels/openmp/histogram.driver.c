#include "inputs.h"

const char mirenc_function[] = "histogram";
const long mirenc_sizes[] = {2100, 37000, 130000, 500000, 1500000, 0};
const char mirenc_types[] = "i";
static long n;
static unsigned char *pixels;
static int *bins;

int mirenc_setup(long size)
{
    n = size;
    pixels = bytes(n, 256);
    bins = ints(256, 1);
    return keep(bins, 256);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const unsigned char *, int *))kernel)(n, pixels, bins);
}
