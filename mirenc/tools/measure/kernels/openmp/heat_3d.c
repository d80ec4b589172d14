/* stencil: seven points of a cube. */
void heat_3d(long n, const double *from, double *to)
{
#pragma omp parallel for
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++)
            for (long k = 1; k < n - 1; k++) {
                long at = (i * n + j) * n + k;
                to[at] = from[at] + 0.1 * (from[at - 1] + from[at + 1] + from[at - n] + from[at + n] +
                                           from[at - n * n] + from[at + n * n] - 6 * from[at]);
            }
}
