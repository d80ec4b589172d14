/* dense: x' A y, one number. */
void bilinear(long n, const double *a, const double *x, const double *y, double *result)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (long i = 0; i < n; i++) {
        double row = 0;
        for (long j = 0; j < n; j++)
            row += a[i * n + j] * y[j];
        sum += x[i] * row;
    }
    result[0] = sum;
}
