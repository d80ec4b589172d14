/* stencil: a step of the game of life on bytes. */
void life(long n, const unsigned char *from, unsigned char *to)
{
#pragma omp parallel for
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++) {
            const unsigned char *at = from + i * n + j;
            int around = at[-n - 1] + at[-n] + at[-n + 1] + at[-1] + at[1] + at[n - 1] + at[n] + at[n + 1];
            to[i * n + j] = around == 3 || (around == 2 && *at);
        }
}
