/* learning: trees of decisions, 20 for each row. */
void forest(long n, const float *rows, const int *feature, const float *limit, float *said)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        float sum = 0;
        for (int tree = 0; tree < 20; tree++) {
            int at = 0;
            while (at < 63)
                at = 2 * at + 1 + (rows[16 * i + feature[127 * tree + at]] > limit[127 * tree + at]);
            sum += limit[127 * tree + at];
        }
        said[i] = sum / 20;
    }
}
