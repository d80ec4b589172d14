#include "inputs.h"

const char mirenc_function[] = "quadrature";
const long mirenc_sizes[] = {560, 4100, 15000, 44000, 820000, 0};
const char mirenc_types[] = "d";
static long n;
static double *result;

int mirenc_setup(long size)
{
    n = size;
    result = doubles(1);
    return keep(result, 1);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, double *))kernel)(n, result);
}
