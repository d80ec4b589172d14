/* memory: a = b + s c. */
void triad(long n, const double *b, const double *c, double *a)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        a[i] = b[i] + 3 * c[i];
}
