#include "inputs.h"

const char mirenc_function[] = "covariance";
const long mirenc_sizes[] = {9, 31, 59, 110, 440, 0};
const char mirenc_types[] = "d";
static long n;
static double *rows, *mean, *found;

int mirenc_setup(long size)
{
    n = size;
    rows = doubles(40 * n);
    mean = doubles(n);
    found = doubles(n * n);
    return keep(found, n * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const double *, const double *, double *))kernel)(n, rows, mean, found);
}
