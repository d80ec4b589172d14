/* counting: 256 bins of bytes, each thread its own and merged. */
void histogram(long n, const unsigned char *pixels, int *bins)
{
    for (int b = 0; b < 256; b++)
        bins[b] = 0;
#pragma omp parallel for reduction(+ : bins[ : 256])
    for (long i = 0; i < n; i++)
        bins[pixels[i]]++;
}
