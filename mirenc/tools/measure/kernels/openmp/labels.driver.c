#include "inputs.h"

const char mirenc_function[] = "labels";
const long mirenc_sizes[] = {610, 1000, 4500, 10000, 15000, 0};
const char mirenc_types[] = "i";
static long n;
static int *start, *neighbour, *label, *next;

int mirenc_setup(long size)
{
    n = size;
    start = row_starts(n, 8, MIXED);
    neighbour = ints(start[n], n);
    label = ints(n, n);
    next = ints(n, 1);
    return keep(next, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const int *, const int *, const int *, int *))kernel)(n, start, neighbour, label, next);
}
