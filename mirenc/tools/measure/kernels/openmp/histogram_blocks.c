/* counting: 64 bins of each block of 1024 numbers, in a table of its own. */
void histogram_blocks(long n, const float *values, int *bins)
{
#pragma omp parallel for
    for (long block = 0; block < n; block++) {
        int *own = bins + 64 * block;
        for (int b = 0; b < 64; b++)
            own[b] = 0;
        for (long i = 1024 * block; i < 1024 * (block + 1); i++)
            own[(int)((values[i] - 0.5f) * 63.9f)]++;
    }
}
