#include "inputs.h"

const char mirenc_function[] = "merge_pairs";
const long mirenc_sizes[] = {2, 13, 40, 150, 1500, 0};
const char mirenc_types[] = "i";
static long n;
static int *runs, *merged;

int mirenc_setup(long size)
{
    n = size;
    runs = ints(512 * n, 50);
    for (long i = 0; i < 512 * n; i++)
        runs[i] += i % 256 ? runs[i - 1] : 0;
    merged = ints(512 * n, 1);
    return keep(merged, 512 * n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const int *, int *))kernel)(n, runs, merged);
}
