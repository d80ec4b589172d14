#include <stdio.h>

/* Gauss and Legendre with five nodes on each of 64 pieces: exact up to degree nine. */

static const double nodes[5] = {
    -0.906179845938664, -0.538469310105683, 0.0, 0.538469310105683, 0.906179845938664,
};
static const double weights[5] = {
    0.236926885056189, 0.478628670499366, 0.568888888888889, 0.478628670499366, 0.236926885056189,
};

static double horner(const float *c, int n, double x)
{
    return n == 0 ? c[0] : c[0] + x * horner(c + 1, n - 1, x);
}

static double gauss(const float *c, int n, double a, double b)
{
    double half = (b - a) / 2, centre = (a + b) / 2, sum = 0;
    for (int i = 0; i < 5; i++)
        sum += weights[i] * horner(c, n, centre + half * nodes[i]);
    return half * sum;
}

int main(void)
{
    double a, b;
    int n;
    while (scanf("%lf %lf %d", &a, &b, &n) == 3) {
        float c[32];
        const int pieces = 64;
        double total = 0;
        for (int k = 0; k <= n; k++)
            scanf("%f", c + k);
        for (int p = 0; p < pieces; p++)
            total += gauss(c, n, a + (b - a) * p / pieces, a + (b - a) * (p + 1) / pieces);
        printf("%.4f\n", total);
    }
    return 0;
}
