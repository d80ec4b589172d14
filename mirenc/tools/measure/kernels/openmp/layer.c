/* learning: a layer of 32 by 32 with a threshold, for each row. */
void layer(long n, const float *rows, const float *weights, const float *bias, float *after)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        for (int o = 0; o < 32; o++) {
            float sum = bias[o];
            for (int k = 0; k < 32; k++)
                sum += rows[32 * i + k] * weights[32 * o + k];
            after[32 * i + o] = sum > 0 ? sum : 0;
        }
}
