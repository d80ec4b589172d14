/* graph: a step of all shortest paths, through one node. */
void floyd_warshall(long n, const float *from, float *to)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) {
            float through = from[i * n + n / 2] + from[n / 2 * n + j];
            to[i * n + j] = through < from[i * n + j] ? through : from[i * n + j];
        }
}
