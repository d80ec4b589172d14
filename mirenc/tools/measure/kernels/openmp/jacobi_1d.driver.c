#include "inputs.h"

const char mirenc_function[] = "jacobi_1d";
const long mirenc_sizes[] = {950, 13000, 45000, 170000, 1000000, 0};
const char mirenc_types[] = "d";
static long n;
static double *from, *to;

int mirenc_setup(long size)
{
    n = size;
    from = doubles(n);
    to = doubles(n);
    return keep(to, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const double *, double *))kernel)(n, from, to);
}
