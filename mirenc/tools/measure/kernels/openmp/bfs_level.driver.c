#include "inputs.h"

const char mirenc_function[] = "bfs_level";
const long mirenc_sizes[] = {210, 1900, 6300, 14000, 58000, 0};
const char mirenc_types[] = "i";
static long n;
static int *start, *neighbour, *level, depth, *next;

int mirenc_setup(long size)
{
    n = size;
    start = row_starts(n, 16, MIXED);
    neighbour = ints(start[n], n);
    level = ints(n, 40);
    for (long i = 0; i < n; i++)
        level[i] = level[i] < 3 ? level[i] : -1;
    depth = 2;
    next = ints(n, 1);
    return keep(next, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const int *, const int *, const int *, int, int *))kernel)(
        n, start, neighbour, level, depth, next);
}
