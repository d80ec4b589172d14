#include "inputs.h"

const char mirenc_function[] = "rejection";
const long mirenc_sizes[] = {120, 410, 1700, 7700, 45000, 0};
const char mirenc_types[] = "f";
static long n;
static float *shape, *drawn;

int mirenc_setup(long size)
{
    n = size;
    shape = floats(n);
    drawn = floats(n);
    return keep(drawn, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const float *, float *))kernel)(n, shape, drawn);
}
