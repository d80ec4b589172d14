/* spectrum: one stage of a Fourier transform, pairs 64 apart. */
void butterfly(long n, const double *turn, const double *from, double *to)
{
#pragma omp parallel for
    for (long block = 0; block < n; block++)
        for (long k = 0; k < 64; k++) {
            long top = 2 * (128 * block + k), low = top + 128;
            double re = turn[2 * k] * from[low] - turn[2 * k + 1] * from[low + 1];
            double im = turn[2 * k] * from[low + 1] + turn[2 * k + 1] * from[low];
            to[top] = from[top] + re;
            to[top + 1] = from[top + 1] + im;
            to[low] = from[top] - re;
            to[low + 1] = from[top + 1] - im;
        }
}
