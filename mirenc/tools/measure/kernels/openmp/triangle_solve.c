/* triangular: L X = B, a right-hand side at a time. */
void triangle_solve(long n, const double *lower, const double *b, double *x)
{
#pragma omp parallel for
    for (long side = 0; side < n; side++)
        for (long i = 0; i < 32; i++) {
            double left = b[side * 32 + i];
            for (long j = 0; j < i; j++)
                left -= lower[i * 32 + j] * x[side * 32 + j];
            x[side * 32 + i] = left / (32 + lower[i * 32 + i]);
        }
}
