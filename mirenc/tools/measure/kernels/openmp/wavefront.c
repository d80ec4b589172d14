/* dynamic: one diagonal of an alignment, from the two before it. */
void wavefront(long n, const int *before, const int *last, const unsigned char *left, const unsigned char *right,
               int *next)
{
#pragma omp parallel for
    for (long i = 1; i < n; i++) {
        int match = before[i - 1] + (left[i] == right[n - i] ? 2 : -1);
        int gap = last[i] > last[i - 1] ? last[i] : last[i - 1];
        int best = match > gap - 1 ? match : gap - 1;
        next[i] = best > 0 ? best : 0;
    }
}
