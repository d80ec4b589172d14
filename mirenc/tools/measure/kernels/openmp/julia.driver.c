#include "inputs.h"

const char mirenc_function[] = "julia";
const long mirenc_sizes[] = {6, 16, 31, 57, 210, 0};
const char mirenc_types[] = "i";
static long n;
static int *steps;

int mirenc_setup(long size)
{
    n = size;
    steps = ints(n * n, 1);
    return keep(steps, n * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, int *))kernel)(n, steps);
}
