/* stencil: the mean of nine pixels. */
void blur(long n, const float *from, float *to)
{
#pragma omp parallel for collapse(2)
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++) {
            float sum = 0;
            for (int di = -1; di <= 1; di++)
                for (int dj = -1; dj <= 1; dj++)
                    sum += from[(i + di) * n + j + dj];
            to[i * n + j] = sum / 9;
        }
}
