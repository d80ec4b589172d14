#include "inputs.h"

const char mirenc_function[] = "roots";
const long mirenc_sizes[] = {490, 5500, 8100, 11000, 20000, 0};
const char mirenc_types[] = "i";
static long n;
static int *parent, *root;

int mirenc_setup(long size)
{
    n = size;
    parent = ints(n, 1000);
    for (long i = 0; i < n; i++)
        parent[i] = i < 64 ? (int)i : (int)(i - 1 - parent[i] % (i < 1000 ? i : 1000));
    root = ints(n, 1);
    return keep(root, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const int *, int *))kernel)(n, parent, root);
}
