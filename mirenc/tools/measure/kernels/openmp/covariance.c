/* triangular: the upper triangle, from rows of 40 measurements. */
void covariance(long n, const double *rows, const double *mean, double *found)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        for (long j = i; j < n; j++) {
            double sum = 0;
            for (long k = 0; k < 40; k++)
                sum += (rows[i * 40 + k] - mean[i]) * (rows[j * 40 + k] - mean[j]);
            found[i * n + j] = found[j * n + i] = sum / 39;
        }
}
