/* graph: a step of a breadth-first search, bottom up: the first neighbour in the front ends a node. */
void bfs_level(long n, const int *start, const int *neighbour, const int *level, int depth, int *next)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        next[i] = level[i];
        if (level[i] >= 0)
            continue;
        for (int k = start[i]; k < start[i + 1]; k++)
            if (level[neighbour[k]] == depth) {
                next[i] = depth + 1;
                break;
            }
    }
}
