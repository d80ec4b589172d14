/* sorting: pairs of sorted runs of 256 to one run. */
void merge_pairs(long n, const int *runs, int *merged)
{
#pragma omp parallel for
    for (long pair = 0; pair < n; pair++) {
        const int *left = runs + 512 * pair, *right = left + 256;
        int a = 0, b = 0;
        for (int i = 0; i < 512; i++) {
            int take = b == 256 || (a < 256 && left[a] <= right[b]);
            merged[512 * pair + i] = take ? left[a] : right[b];
            a += take;
            b += !take;
        }
    }
}
