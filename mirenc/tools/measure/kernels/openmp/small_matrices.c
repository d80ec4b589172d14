/* dense: many products of 4 x 4 matrices. */
void small_matrices(long n, const float *a, const float *b, float *c)
{
#pragma omp parallel for
    for (long m = 0; m < n; m++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                float sum = 0;
                for (int k = 0; k < 4; k++)
                    sum += a[m * 16 + i * 4 + k] * b[m * 16 + k * 4 + j];
                c[m * 16 + i * 4 + j] = sum;
            }
}
