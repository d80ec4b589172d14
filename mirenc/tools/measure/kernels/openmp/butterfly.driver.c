#include "inputs.h"

const char mirenc_function[] = "butterfly";
const long mirenc_sizes[] = {10, 160, 510, 1600, 5300, 0};
const char mirenc_types[] = "d";
static long n;
static double *turn, *from, *to;

int mirenc_setup(long size)
{
    n = size;
    turn = doubles(128);
    from = doubles(256 * n);
    to = doubles(256 * n);
    return keep(to, 256 * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const double *, const double *, double *))kernel)(n, turn, from, to);
}
