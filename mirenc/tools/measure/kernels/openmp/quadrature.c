/* reduction: an integral, a division and a root a point. */
#include <math.h>

void quadrature(long n, double *result)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (long i = 0; i < n; i++) {
        double x = (i + 0.5) / n;
        sum += sqrt(1 - x * x) / (1 + x);
    }
    result[0] = sum / n;
}
