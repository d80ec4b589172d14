#include "inputs.h"

const char mirenc_function[] = "hash_probe";
const long mirenc_sizes[] = {740, 1600, 6700, 17000, 55000, 0};
const char mirenc_types[] = "i";
static long n;
static int *slots, *wanted, *probes;

int mirenc_setup(long size)
{
    n = size;
    slots = ints(16384, 1);
    for (int i = 0; i < 16384; i++)
        slots[i] = -1;
    wanted = ints(12000, 100000);
    for (int i = 0; i < 12000; i++) {
        unsigned at = (unsigned)wanted[i] * 2654435761u >> 18;
        while (slots[at] >= 0)
            at = (at + 1) & 16383;
        slots[at] = wanted[i];
    }
    wanted = ints(n, 100000);
    probes = ints(n, 1);
    return keep(probes, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const int *, const int *, int *))kernel)(n, slots, wanted, probes);
}
