/* reduction: the inner product of two vectors. */
void dot(long n, const double *x, const double *y, double *result)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (long i = 0; i < n; i++)
        sum += x[i] * y[i];
    result[0] = sum;
}
