#include "inputs.h"

const char mirenc_function[] = "lu_step";
const long mirenc_sizes[] = {76, 210, 380, 690, 1500, 0};
const char mirenc_types[] = "d";
static long n;
static double *a, *next;

int mirenc_setup(long size)
{
    n = size;
    a = doubles(n * n);
    next = doubles(n * n);
    return keep(next, n * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const double *, double *))kernel)(n, a, next);
}
