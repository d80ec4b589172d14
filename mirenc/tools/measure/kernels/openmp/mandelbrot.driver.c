#include "inputs.h"

const char mirenc_function[] = "mandelbrot";
const long mirenc_sizes[] = {5, 13, 25, 42, 170, 0};
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
