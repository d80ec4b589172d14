/* sparse: y = A x, seven entries in each row. */
void sparse_even(long n, const int *column, const double *value, const double *x, double *y)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        double sum = 0;
        for (long k = 7 * i; k < 7 * i + 7; k++)
            sum += value[k] * x[column[k]];
        y[i] = sum;
    }
}
