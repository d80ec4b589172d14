/* graph: triangles, counted by walking two sorted lists of neighbours. */
void triangles(long n, const int *start, const int *neighbour, long *result)
{
    long found = 0;
#pragma omp parallel for reduction(+ : found)
    for (long i = 0; i < n; i++)
        for (int k = start[i]; k < start[i + 1]; k++) {
            int a = start[i], b = start[neighbour[k]], end = start[neighbour[k] + 1];
            while (a < start[i + 1] && b < end) {
                int left = neighbour[a], right = neighbour[b];
                found += left == right;
                a += left <= right;
                b += right <= left;
            }
        }
    result[0] = found;
}
