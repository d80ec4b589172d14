/* sparse: each row divided by its length, the long rows last. */
#include <math.h>

void sparse_scale(long n, const int *start, const double *value, double *scaled)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        double square = 0;
        for (int k = start[i]; k < start[i + 1]; k++)
            square += value[k] * value[k];
        double length = sqrt(square);
        for (int k = start[i]; k < start[i + 1]; k++)
            scaled[k] = value[k] / length;
    }
}
