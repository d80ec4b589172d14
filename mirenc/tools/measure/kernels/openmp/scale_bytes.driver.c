#include "inputs.h"

const char mirenc_function[] = "scale_bytes";
const long mirenc_sizes[] = {2200, 5300, 20000, 59000, 290000, 0};
const char mirenc_types[] = "b";
static long n;
static unsigned char *colours, *grey;

int mirenc_setup(long size)
{
    n = size;
    colours = bytes(3 * n, 256);
    grey = bytes(n, 256);
    return keep(grey, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const unsigned char *, unsigned char *))kernel)(n, colours, grey);
}
