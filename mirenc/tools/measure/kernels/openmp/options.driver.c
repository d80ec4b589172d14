#include "inputs.h"

const char mirenc_function[] = "options";
const long mirenc_sizes[] = {50, 290, 1200, 3800, 23000, 0};
const char mirenc_types[] = "d";
static long n;
static double *price, *strike, *worth;

int mirenc_setup(long size)
{
    n = size;
    price = doubles(n);
    strike = doubles(n);
    worth = doubles(n);
    return keep(worth, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const double *, const double *, double *))kernel)(n, price, strike, worth);
}
