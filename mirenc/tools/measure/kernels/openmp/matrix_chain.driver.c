#include "inputs.h"

const char mirenc_function[] = "matrix_chain";
const long mirenc_sizes[] = {60, 230, 410, 760, 1500, 0};
const char mirenc_types[] = "d";
static long n;
static double *cost, *side, *next;

int mirenc_setup(long size)
{
    n = size;
    cost = doubles((n + 1) * n);
    side = doubles(n + 2);
    next = doubles(n);
    return keep(next, n / 2);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const double *, const double *, double *))kernel)(n, cost, side, next);
}
