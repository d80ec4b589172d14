/* uneven: sampling by rejection, some shapes refuse more often. */
#include <math.h>

void rejection(long n, const float *shape, float *drawn)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        unsigned long state = 88172645463325252ul + (unsigned long)i * 2685821657736338717ul;
        float x, y, sharp = 2 + 60 * shape[i] * i / n;
        do {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            x = (float)(state >> 40) * 0x1p-24f;
            y = (float)(state & 0xffffff) * 0x1p-24f;
        } while (y > 1 / (1 + sharp * sharp * (x - 0.5f) * (x - 0.5f)));
        drawn[i] = x;
    }
}
