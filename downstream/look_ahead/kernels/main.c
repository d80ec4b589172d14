#include <stdio.h>
#include <stdlib.h>
#include "kernels.h"
#define N 65536
static float a[N * 6], x[6], y[N];
static int p[N * 5], q[N * 5], r[N * 5];
static unsigned bits[N];
static unsigned char in[256 * 256], out[256 * 256];
static double g[200 * 200], h[200 * 200];
int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 20;
    long total = 0;
    double sum = 0;
    srand(1);
    for (int i = 0; i < N * 6; i++) a[i] = rand() % 7;
    for (int i = 0; i < 6; i++) x[i] = i;
    for (int i = 0; i < N * 5; i++) p[i] = rand(), q[i] = i;
    for (int i = 0; i < N; i++) bits[i] = rand();
    for (int i = 0; i < 65536; i++) in[i] = rand();
    for (int i = 0; i < 40000; i++) g[i] = rand() % 10;
    for (int k = 0; k < rounds; k++) {
        matvec(a, x, y, N, 6);
        add_short(p, q, r, N, 5);
        total += count_bits(bits, N);
        blur(in, out, 256, 256);
        jacobi(g, h, 200);
        sum += y[k] + r[k] + out[k + 300] + h[k + 205];
        bits[k]++;
    }
    printf("%ld %.6g\n", total, sum);
    return 0;
}
