/* sorting: how many numbers stand below each. */
void count_rank(long n, const float *values, int *rank)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        int below = 0;
        for (long j = 0; j < n; j++)
            below += values[j] < values[i] || (values[j] == values[i] && j < i);
        rank[i] = below;
    }
}
