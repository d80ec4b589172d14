#include "inputs.h"

const char mirenc_function[] = "gemm";
const long mirenc_sizes[] = {23, 26, 41, 62, 120, 0};
const char mirenc_types[] = "d";
static long n;
static double *a, *b, *c;

int mirenc_setup(long size)
{
    n = size;
    a = doubles(n * n);
    b = doubles(n * n);
    c = doubles(n * n);
    return keep(c, n * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const double *, const double *, double *))kernel)(n, a, b, c);
}
