#include "inputs.h"

const char mirenc_function[] = "gather";
const long mirenc_sizes[] = {2800, 15000, 47000, 150000, 570000, 0};
const char mirenc_types[] = "d";
static long n;
static int *from;
static double *values, *taken;

int mirenc_setup(long size)
{
    n = size;
    from = ints(n, n);
    values = doubles(n);
    taken = doubles(n);
    return keep(taken, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const int *, const double *, double *))kernel)(n, from, values, taken);
}
