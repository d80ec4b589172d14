#include "inputs.h"

const char mirenc_function[] = "collatz";
const long mirenc_sizes[] = {100, 210, 620, 1700, 9700, 0};
const char mirenc_types[] = "i";
static long n;
static int *steps;

int mirenc_setup(long size)
{
    n = size;
    steps = ints(n, 1);
    return keep(steps, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, int *))kernel)(n, steps);
}
