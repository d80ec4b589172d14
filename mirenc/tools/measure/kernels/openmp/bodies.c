/* particles: the pull of all on each. */
#include <math.h>

void bodies(long n, const double *place, const double *mass, double *pull)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        double x = 0, y = 0, z = 0;
        for (long j = 0; j < n; j++) {
            double dx = place[3 * j] - place[3 * i];
            double dy = place[3 * j + 1] - place[3 * i + 1];
            double dz = place[3 * j + 2] - place[3 * i + 2];
            double square = dx * dx + dy * dy + dz * dz + 1e-3;
            double weight = mass[j] / (square * sqrt(square));
            x += weight * dx;
            y += weight * dy;
            z += weight * dz;
        }
        pull[3 * i] = x;
        pull[3 * i + 1] = y;
        pull[3 * i + 2] = z;
    }
}
