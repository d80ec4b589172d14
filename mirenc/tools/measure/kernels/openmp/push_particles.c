/* particles: a step of charged particles in a field on a grid of 32 x 32. */
void push_particles(long n, const float *field, const float *place, const float *speed, float *moved)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        float x = place[2 * i] * 20, y = place[2 * i + 1] * 20;
        int cx = (int)x, cy = (int)y;
        float u = x - cx, v = y - cy;
        const float *at = field + 32 * cy + cx;
        float here = (1 - v) * ((1 - u) * at[0] + u * at[1]) + v * ((1 - u) * at[32] + u * at[33]);
        moved[2 * i] = place[2 * i] + 0.01f * (speed[2 * i] + here);
        moved[2 * i + 1] = place[2 * i + 1] + 0.01f * (speed[2 * i + 1] - here);
    }
}
