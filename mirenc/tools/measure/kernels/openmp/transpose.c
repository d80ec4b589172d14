/* memory: B = A'. */
void transpose(long n, const double *a, double *b)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            b[i * n + j] = a[j * n + i];
}
