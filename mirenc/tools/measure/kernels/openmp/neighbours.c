/* particles: forces of near particles only, from lists of uneven lengths. */
void neighbours(long n, const int *start, const int *near, const float *place, float *force)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        float fx = 0, fy = 0, fz = 0;
        for (int k = start[i]; k < start[i + 1]; k++) {
            const float *other = place + 3L * near[k];
            float dx = place[3 * i] - other[0], dy = place[3 * i + 1] - other[1], dz = place[3 * i + 2] - other[2];
            float square = dx * dx + dy * dy + dz * dz;
            if (square > 1.2f)
                continue;
            float inverse = 1 / (square + 0.1f);
            float sixth = inverse * inverse * inverse;
            float size = sixth * (sixth - 0.5f) * inverse;
            fx += size * dx;
            fy += size * dy;
            fz += size * dz;
        }
        force[3 * i] = fx;
        force[3 * i + 1] = fy;
        force[3 * i + 2] = fz;
    }
}
