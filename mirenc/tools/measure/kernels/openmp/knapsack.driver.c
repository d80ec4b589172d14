#include "inputs.h"

const char mirenc_function[] = "knapsack";
const long mirenc_sizes[] = {1600, 14000, 53000, 200000, 1000000, 0};
const char mirenc_types[] = "i";
static long n;
static int *best, weight, value, *next;

int mirenc_setup(long size)
{
    n = size;
    best = ints(n, 1000);
    weight = 37;
    value = 91;
    next = ints(n, 1);
    return keep(next, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const int *, int, int, int *))kernel)(n, best, weight, value, next);
}
