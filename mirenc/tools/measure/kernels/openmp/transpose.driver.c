#include "inputs.h"

const char mirenc_function[] = "transpose";
const long mirenc_sizes[] = {78, 170, 310, 480, 1000, 0};
const char mirenc_types[] = "d";
static long n;
static double *a, *b;

int mirenc_setup(long size)
{
    n = size;
    a = doubles(n * n);
    b = doubles(n * n);
    return keep(b, n * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const double *, double *))kernel)(n, a, b);
}
