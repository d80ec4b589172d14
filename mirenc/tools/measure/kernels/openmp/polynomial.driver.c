#include "inputs.h"

const char mirenc_function[] = "polynomial";
const long mirenc_sizes[] = {600, 9200, 34000, 99000, 600000, 0};
const char mirenc_types[] = "d";
static long n;
static double *factors, *x, *y;

int mirenc_setup(long size)
{
    n = size;
    factors = doubles(13);
    x = doubles(n);
    y = doubles(n);
    return keep(y, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const double *, const double *, double *))kernel)(n, factors, x, y);
}
