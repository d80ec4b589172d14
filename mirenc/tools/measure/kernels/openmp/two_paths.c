/* pointwise: cheap on one side of a limit, dear on the other, and the dear ones stand together. */
#include <math.h>

void two_paths(long n, const double *x, double *y)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        if (8 * i < 7 * n)
            y[i] = 2 * x[i];
        else
            y[i] = sin(exp(cos(x[i]))) + pow(x[i], 1.3);
}
