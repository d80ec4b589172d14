#include "inputs.h"

const char mirenc_function[] = "heat_3d";
const long mirenc_sizes[] = {10, 19, 31, 44, 69, 0};
const char mirenc_types[] = "d";
static long n;
static double *from, *to;

int mirenc_setup(long size)
{
    n = size;
    from = doubles(n * n * n);
    to = doubles(n * n * n);
    return keep(to, n * n * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const double *, double *))kernel)(n, from, to);
}
