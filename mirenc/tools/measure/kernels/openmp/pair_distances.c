/* triangular: distances of all pairs of points, each pair once. */
#include <math.h>

void pair_distances(long n, const float *points, float *distance)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        for (long j = i + 1; j < n; j++) {
            float dx = points[3 * i] - points[3 * j];
            float dy = points[3 * i + 1] - points[3 * j + 1];
            float dz = points[3 * i + 2] - points[3 * j + 2];
            distance[i * n + j] = sqrtf(dx * dx + dy * dy + dz * dz);
        }
}
