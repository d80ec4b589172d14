/* graph: label propagation, each node takes the least label around it. */
void labels(long n, const int *start, const int *neighbour, const int *label, int *next)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        int least = label[i];
        for (int k = start[i]; k < start[i + 1]; k++)
            least = label[neighbour[k]] < least ? label[neighbour[k]] : least;
        next[i] = least;
    }
}
