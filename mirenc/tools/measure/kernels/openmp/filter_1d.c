/* stencil: a filter of 32 taps. */
void filter_1d(long n, const float *signal, const float *taps, float *filtered)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        float sum = 0;
        for (int k = 0; k < 32; k++)
            sum += taps[k] * signal[i + k];
        filtered[i] = sum;
    }
}
