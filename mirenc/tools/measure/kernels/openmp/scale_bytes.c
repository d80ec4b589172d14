/* memory: pixels to grey, three bytes to one. */
void scale_bytes(long n, const unsigned char *colours, unsigned char *grey)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        grey[i] = (unsigned char)((77 * colours[3 * i] + 150 * colours[3 * i + 1] + 29 * colours[3 * i + 2]) >> 8);
}
