/* uneven: a cube root each, until it stands still. */
#include <math.h>

void newton(long n, const double *of, double *root)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        double value = of[i] * (i + 1), x = 1, step = 1;
        while (fabs(step) > 1e-12 * x) {
            step = (value / (x * x) - x) / 3;
            x += step;
        }
        root[i] = x;
    }
}
