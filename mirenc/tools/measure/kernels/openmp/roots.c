/* graph: each node's root, by following its parents. */
void roots(long n, const int *parent, int *root)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        int at = (int)i;
        while (parent[at] != at)
            at = parent[at];
        root[i] = at;
    }
}
