/* sorting: rows of 16 to 128 numbers, by insertion. */
void sort_rows(long n, const int *length, const int *from, int *to)
{
#pragma omp parallel for
    for (long row = 0; row < n; row++)
        for (int i = 0; i < 16 + length[row]; i++) {
            int value = from[128 * row + i], j = i;
            for (; j > 0 && to[128 * row + j - 1] > value; j--)
                to[128 * row + j] = to[128 * row + j - 1];
            to[128 * row + j] = value;
        }
}
