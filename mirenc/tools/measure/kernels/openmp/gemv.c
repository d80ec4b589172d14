/* dense: y = A x. */
void gemv(long n, const float *a, const float *x, float *y)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        float sum = 0;
        for (long j = 0; j < n; j++)
            sum += a[i * n + j] * x[j];
        y[i] = sum;
    }
}
