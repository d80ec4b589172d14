/* sparse: how many columns each row shares with the next. */
void sparse_overlap(long n, const int *start, const int *column, int *shared)
{
#pragma omp parallel for
    for (long i = 0; i < n - 1; i++) {
        int left = start[i], right = start[i + 1], found = 0;
        while (left < start[i + 1] && right < start[i + 2]) {
            int a = column[left], b = column[right];
            found += a == b;
            left += a <= b;
            right += b <= a;
        }
        shared[i] = found;
    }
}
