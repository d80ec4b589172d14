/* counting: the place of each number in a sorted table. */
void binary_search(long n, const int *table, const int *wanted, int *place)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        int low = 0, high = 4096;
        while (low < high) {
            int middle = (low + high) / 2;
            if (table[middle] < wanted[i])
                low = middle + 1;
            else
                high = middle;
        }
        place[i] = low;
    }
}
