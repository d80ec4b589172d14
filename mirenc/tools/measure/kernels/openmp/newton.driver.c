#include "inputs.h"

const char mirenc_function[] = "newton";
const long mirenc_sizes[] = {18, 200, 860, 2300, 21000, 0};
const char mirenc_types[] = "d";
static long n;
static double *of, *root;

int mirenc_setup(long size)
{
    n = size;
    of = doubles(n);
    root = doubles(n);
    return keep(root, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const double *, double *))kernel)(n, of, root);
}
