/* graph: a step, each node pulling from those that point to it. */
void pagerank(long n, const int *start, const int *source, const double *share, double *rank)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        double sum = 0;
        for (int k = start[i]; k < start[i + 1]; k++)
            sum += share[source[k]];
        rank[i] = 0.15 / n + 0.85 * sum;
    }
}
