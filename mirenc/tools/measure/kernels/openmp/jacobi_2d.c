/* stencil: five points of a plane. */
void jacobi_2d(long n, const double *from, double *to)
{
#pragma omp parallel for
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++)
            to[i * n + j] = 0.2 * (from[i * n + j] + from[i * n + j - 1] + from[i * n + j + 1] +
                                   from[(i - 1) * n + j] + from[(i + 1) * n + j]);
}
