#include "inputs.h"

const char mirenc_function[] = "pair_distances";
const long mirenc_sizes[] = {48, 200, 380, 710, 2500, 0};
const char mirenc_types[] = "f";
static long n;
static float *points, *distance;

int mirenc_setup(long size)
{
    n = size;
    points = floats(3 * n);
    distance = floats(n * n);
    return keep(distance, n * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const float *, float *))kernel)(n, points, distance);
}
