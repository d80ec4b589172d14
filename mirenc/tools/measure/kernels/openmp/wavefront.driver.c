#include "inputs.h"

const char mirenc_function[] = "wavefront";
const long mirenc_sizes[] = {1400, 19000, 64000, 240000, 800000, 0};
const char mirenc_types[] = "i";
static long n;
static int *before, *last, *next;
static unsigned char *left, *right;

int mirenc_setup(long size)
{
    n = size;
    before = ints(n, 50);
    last = ints(n, 50);
    left = bytes(n, 4);
    right = bytes(n, 4);
    next = ints(n, 1);
    return keep(next, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const int *, const int *, const unsigned char *, const unsigned char *, int *))kernel)(
        n, before, last, left, right, next);
}
