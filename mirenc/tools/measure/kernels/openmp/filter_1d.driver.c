#include "inputs.h"

const char mirenc_function[] = "filter_1d";
const long mirenc_sizes[] = {390, 1300, 6700, 21000, 100000, 0};
const char mirenc_types[] = "f";
static long n;
static float *signal, *taps, *filtered;

int mirenc_setup(long size)
{
    n = size;
    signal = floats(n + 32);
    taps = floats(32);
    filtered = floats(n);
    return keep(filtered, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const float *, const float *, float *))kernel)(n, signal, taps, filtered);
}
