#include "inputs.h"

const char mirenc_function[] = "forest";
const long mirenc_sizes[] = {2, 64, 270, 730, 9800, 0};
const char mirenc_types[] = "f";
static long n;
static float *rows, *limit, *said;
static int *feature;

int mirenc_setup(long size)
{
    n = size;
    rows = floats(16 * n);
    feature = ints(127 * 20, 16);
    limit = floats(127 * 20);
    said = floats(n);
    return keep(said, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const float *, const int *, const float *, float *))kernel)(n, rows, feature, limit, said);
}
