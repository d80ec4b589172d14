#include "inputs.h"

const char mirenc_function[] = "binary_search";
const long mirenc_sizes[] = {350, 1000, 3600, 5300, 40000, 0};
const char mirenc_types[] = "i";
static long n;
static int *table, *wanted, *place;

int mirenc_setup(long size)
{
    n = size;
    table = ints(4096, 16);
    for (int i = 1; i < 4096; i++)
        table[i] += table[i - 1];
    wanted = ints(n, 32000);
    place = ints(n, 1);
    return keep(place, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const int *, const int *, int *))kernel)(n, table, wanted, place);
}
