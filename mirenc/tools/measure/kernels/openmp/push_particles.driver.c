#include "inputs.h"

const char mirenc_function[] = "push_particles";
const long mirenc_sizes[] = {160, 3200, 14000, 50000, 710000, 0};
const char mirenc_types[] = "f";
static long n;
static float *field, *place, *speed, *moved;

int mirenc_setup(long size)
{
    n = size;
    field = floats(34 * 34);
    place = floats(2 * n);
    speed = floats(2 * n);
    moved = floats(2 * n);
    return keep(moved, 2 * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const float *, const float *, const float *, float *))kernel)(n, field, place, speed, moved);
}
