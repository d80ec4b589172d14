/* uneven: the nearest of 24 spheres for each pixel, and a shadow where one is hit. */
#include <math.h>

static float meet(const float *sphere, const float *from, const float *along)
{
    float x = from[0] - sphere[0], y = from[1] - sphere[1], z = from[2] - sphere[2];
    float half = x * along[0] + y * along[1] + z * along[2];
    float inside = half * half - (x * x + y * y + z * z - sphere[3]);
    return inside < 0 ? -1 : -half - sqrtf(inside);
}

void rays(long n, const float *spheres, float *light)
{
#pragma omp parallel for
    for (long row = 0; row < n; row++)
        for (long column = 0; column < n; column++) {
            float along[3] = {(float)column / n - 0.5f, (float)row / n - 0.2f, 1};
            float from[3] = {0, 0, 0}, sun[3] = {0.6f, 0.64f, -0.48f};
            float norm = 1 / sqrtf(along[0] * along[0] + along[1] * along[1] + 1), nearest = 1e9f;
            for (int c = 0; c < 3; c++)
                along[c] *= norm;
            for (int s = 0; s < 24; s++) {
                float far = meet(spheres + 4 * s, from, along);
                nearest = far > 0 && far < nearest ? far : nearest;
            }
            float bright = 0;
            if (nearest < 1e9f) {
                bright = 1;
                for (int c = 0; c < 3; c++)
                    from[c] = along[c] * nearest;
                for (int s = 0; s < 24 && bright > 0; s++)
                    bright = meet(spheres + 4 * s, from, sun) > 0.01f ? 0 : bright;
            }
            light[row * n + column] = bright;
        }
}
