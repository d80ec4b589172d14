#include "inputs.h"

const char mirenc_function[] = "slow_fourier";
const long mirenc_sizes[] = {6, 27, 50, 94, 340, 0};
const char mirenc_types[] = "d";
static long n;
static double *signal, *power;

int mirenc_setup(long size)
{
    n = size;
    signal = doubles(n);
    power = doubles(n);
    return keep(power, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const double *, double *))kernel)(n, signal, power);
}
