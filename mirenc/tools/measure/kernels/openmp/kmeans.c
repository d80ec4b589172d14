/* learning: the nearest of 16 centres in 8 dimensions. */
void kmeans(long n, const float *points, const float *centres, int *nearest)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        float least = 1e30f;
        for (int c = 0; c < 16; c++) {
            float far = 0;
            for (int d = 0; d < 8; d++) {
                float gap = points[8 * i + d] - centres[8 * c + d];
                far += gap * gap;
            }
            if (far < least) {
                least = far;
                nearest[i] = c;
            }
        }
    }
}
