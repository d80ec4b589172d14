#include "inputs.h"

const char mirenc_function[] = "triad";
const long mirenc_sizes[] = {12000, 25000, 73000, 220000, 790000, 0};
const char mirenc_types[] = "d";
static long n;
static double *b, *c, *a;

int mirenc_setup(long size)
{
    n = size;
    b = doubles(n);
    c = doubles(n);
    a = doubles(n);
    return keep(a, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const double *, const double *, double *))kernel)(n, b, c, a);
}
