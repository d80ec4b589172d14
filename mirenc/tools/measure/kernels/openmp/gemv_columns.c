/* dense: y = A' x, down the columns. */
void gemv_columns(long n, const double *a, const double *x, double *y)
{
#pragma omp parallel for
    for (long j = 0; j < n; j++) {
        double sum = 0;
        for (long i = 0; i < n; i++)
            sum += a[i * n + j] * x[i];
        y[j] = sum;
    }
}
