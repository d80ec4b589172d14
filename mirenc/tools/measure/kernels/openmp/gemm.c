/* dense: C = A B, a row of C at a time. */
void gemm(long n, const double *a, const double *b, double *c)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        for (long j = 0; j < n; j++)
            c[i * n + j] = 0;
        for (long k = 0; k < n; k++)
            for (long j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
}
