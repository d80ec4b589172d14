#include "inputs.h"

const char mirenc_function[] = "text_search";
const long mirenc_sizes[] = {150, 700, 1400, 2100, 28000, 0};
const char mirenc_types[] = "i";
static long n;
static int *start, *found;
static unsigned char *text, *word;

int mirenc_setup(long size)
{
    n = size;
    start = row_starts(n, 60, MIXED);
    text = bytes(start[n], 4);
    word = bytes(4, 4);
    found = ints(n, 1);
    return keep(found, n);
}

void mirenc_call(mirenc_kernel kernel)
{
    ((void (*)(long, const int *, const unsigned char *, const unsigned char *, int *))kernel)(
        n, start, text, word, found);
}
