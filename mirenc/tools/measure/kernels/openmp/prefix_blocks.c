/* scan: running sums of each block of 512. */
void prefix_blocks(long n, const long *values, long *sums)
{
#pragma omp parallel for
    for (long block = 0; block < n; block++) {
        long sum = 0;
        for (long i = 512 * block; i < 512 * (block + 1); i++)
            sums[i] = sum += values[i];
    }
}
