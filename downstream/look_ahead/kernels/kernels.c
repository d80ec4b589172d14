/* Small kernels as in PolyBench and image codes, with the trip counts of their own. */
#include "kernels.h"

void matvec(const float *a, const float *x, float *y, int rows, int n)
{
    for (int i = 0; i < rows; i++) {
        float s = 0;
        for (int j = 0; j < n; j++)
            s += a[i * n + j] * x[j];
        y[i] = s;
    }
}

void add_short(const int *a, const int *b, int *c, int rows, int n)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++)
            c[i * n + j] = a[i * n + j] + b[i * n + j];
}

long count_bits(const unsigned *a, int n)
{
    long s = 0;
    for (int i = 0; i < n; i++)
        s += __builtin_popcount(a[i]);
    return s;
}

void blur(const unsigned char *in, unsigned char *out, int w, int h)
{
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++)
            out[y * w + x] = (in[(y - 1) * w + x] + in[y * w + x - 1] + 4 * in[y * w + x] + in[y * w + x + 1]
                              + in[(y + 1) * w + x]) / 8;
}

void jacobi(const double *a, double *b, int n)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            b[i * n + j] = 0.2 * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j] + a[(i + 1) * n + j]);
}
