/* triangular: the lower triangle less a product of 8 columns. */
void cholesky_update(long n, const double *columns, const double *a, double *next)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        for (long j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (int k = 0; k < 8; k++)
                sum -= columns[i * 8 + k] * columns[j * 8 + k];
            next[i * n + j] = sum;
        }
}
