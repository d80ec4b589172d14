/* triangular: C = A A', the lower triangle. */
void syrk(long n, const float *a, float *c)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        for (long j = 0; j <= i; j++) {
            float sum = 0;
            for (long k = 0; k < n; k++)
                sum += a[i * n + k] * a[j * n + k];
            c[i * n + j] = sum;
        }
}
