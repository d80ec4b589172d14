/* sparse: y = A x, rows as long as a power law says, in any order. */
void sparse_rows(long n, const int *start, const int *column, const double *value, const double *x, double *y)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        double sum = 0;
        for (int k = start[i]; k < start[i + 1]; k++)
            sum += value[k] * x[column[k]];
        y[i] = sum;
    }
}
