// Sums of the rows of a sparse matrix: rows of uneven length, and OpenMP shares them out.
void row_sums(int n, const int *start, const double *value, double *sum) {
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
        double s = 0;
        for (int k = start[i]; k < start[i + 1]; ++k)
            s += value[k];
        sum[i] = s;
    }
}
