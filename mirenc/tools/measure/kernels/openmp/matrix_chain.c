/* dynamic: one diagonal of the matrix chain problem, all ways to split. */
void matrix_chain(long n, const double *cost, const double *side, double *next)
{
#pragma omp parallel for
    for (long i = 0; i < n / 2; i++) {
        long j = i + n / 2;
        double best = 1e300;
        for (long k = i; k < j; k++) {
            double whole = cost[i * n + k] + cost[(k + 1) * n + j] + side[i] * side[k + 1] * side[j + 1];
            best = whole < best ? whole : best;
        }
        next[i] = best;
    }
}
