/* triangular: y = L x, rows that grow. */
void triangle_product(long n, const double *lower, const double *x, double *y)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        double sum = 0;
        for (long j = 0; j <= i; j++)
            sum += lower[i * n + j] * x[j];
        y[i] = sum;
    }
}
