#include "inputs.h"

const char mirenc_function[] = "cholesky_update";
const long mirenc_sizes[] = {45, 150, 290, 490, 2000, 0};
const char mirenc_types[] = "d";
static long n;
static double *columns, *a, *next;

int mirenc_setup(long size)
{
    n = size;
    columns = doubles(8 * n);
    a = doubles(n * n);
    next = doubles(n * n);
    return keep(next, n * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const double *, const double *, double *))kernel)(n, columns, a, next);
}
