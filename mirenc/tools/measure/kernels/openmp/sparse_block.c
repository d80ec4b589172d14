/* sparse: Y = A X, eight columns at once, the long rows first. */
void sparse_block(long n, const int *start, const int *column, const float *value, const float *x, float *y)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        float sum[8] = {0};
        for (int k = start[i]; k < start[i + 1]; k++)
            for (int c = 0; c < 8; c++)
                sum[c] += value[k] * x[8L * column[k] + c];
        for (int c = 0; c < 8; c++)
            y[8 * i + c] = sum[c];
    }
}
