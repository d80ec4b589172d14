#include "inputs.h"

const char mirenc_function[] = "wave_2d";
const long mirenc_sizes[] = {71, 190, 310, 620, 2100, 0};
const char mirenc_types[] = "f";
static long n;
static float *before, *now, *speed, *next;

int mirenc_setup(long size)
{
    n = size;
    before = floats(n * n);
    now = floats(n * n);
    speed = floats(n * n);
    next = floats(n * n);
    return keep(next, n * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const float *, const float *, const float *, float *))kernel)(n, before, now, speed, next);
}
