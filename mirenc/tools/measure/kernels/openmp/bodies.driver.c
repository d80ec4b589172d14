#include "inputs.h"

const char mirenc_function[] = "bodies";
const long mirenc_sizes[] = {26, 38, 74, 130, 280, 0};
const char mirenc_types[] = "d";
static long n;
static double *place, *mass, *pull;

int mirenc_setup(long size)
{
    n = size;
    place = doubles(3 * n);
    mass = doubles(n);
    pull = doubles(3 * n);
    return keep(pull, 3 * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const double *, const double *, double *))kernel)(n, place, mass, pull);
}
