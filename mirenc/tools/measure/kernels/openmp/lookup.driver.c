#include "inputs.h"

const char mirenc_function[] = "lookup";
const long mirenc_sizes[] = {450, 4300, 13000, 40000, 190000, 0};
const char mirenc_types[] = "f";
static long n;
static float *table, *x, *y;

int mirenc_setup(long size)
{
    n = size;
    table = floats(257);
    x = floats(n);
    y = floats(n);
    return keep(y, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const float *, const float *, float *))kernel)(n, table, x, y);
}
