#include "inputs.h"

const char mirenc_function[] = "recurrence";
const long mirenc_sizes[] = {6, 28, 110, 330, 1700, 0};
const char mirenc_types[] = "f";
static long n;
static float *signal, *smooth;

int mirenc_setup(long size)
{
    n = size;
    signal = floats(128 * n);
    smooth = floats(128 * n);
    return keep(smooth, 128 * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const float *, float *))kernel)(n, signal, smooth);
}
