/* reduction: bits that differ between two strings of bits. */
void bits(long n, const long *left, const long *right, long *result)
{
    long found = 0;
#pragma omp parallel for reduction(+ : found)
    for (long i = 0; i < n; i++)
        found += __builtin_popcountl((unsigned long)(left[i] ^ right[i]));
    result[0] = found;
}
