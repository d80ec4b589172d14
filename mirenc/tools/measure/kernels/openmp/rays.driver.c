#include "inputs.h"

const char mirenc_function[] = "rays";
const long mirenc_sizes[] = {2, 11, 21, 38, 110, 0};
const char mirenc_types[] = "f";
static long n;
static float *spheres, *light;

int mirenc_setup(long size)
{
    n = size;
    spheres = floats(4 * 24);
    for (int s = 0; s < 24; s++) {
        spheres[4 * s] = 4 * spheres[4 * s] - 4;
        spheres[4 * s + 1] = 3 * spheres[4 * s + 1];
        spheres[4 * s + 2] = 6 + 4 * spheres[4 * s + 2];
        spheres[4 * s + 3] *= 0.5f;
    }
    light = floats(n * n);
    return keep(light, n * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const float *, float *))kernel)(n, spheres, light);
}
