/* stencil: a step of the wave equation with its own speed at each point. */
void wave_2d(long n, const float *before, const float *now, const float *speed, float *next)
{
#pragma omp parallel for
    for (long i = 2; i < n - 2; i++)
        for (long j = 2; j < n - 2; j++) {
            long at = i * n + j;
            float bend = -5 * now[at] + 1.333f * (now[at - 1] + now[at + 1] + now[at - n] + now[at + n]) -
                         0.083f * (now[at - 2] + now[at + 2] + now[at - 2 * n] + now[at + 2 * n]);
            next[at] = 2 * now[at] - before[at] + speed[at] * bend;
        }
}
