/* triangular: the rows below the pivot, divided and lessened. */
void lu_step(long n, const double *a, double *next)
{
#pragma omp parallel for
    for (long i = 1; i < n; i++) {
        double share = a[i * n] / a[0];
        next[i * n] = share;
        for (long j = 1; j < n; j++)
            next[i * n + j] = a[i * n + j] - share * a[j];
    }
}
