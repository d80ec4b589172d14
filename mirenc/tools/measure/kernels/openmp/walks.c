/* uneven: Monte Carlo, a random walk from each start until it leaves a square. */
void walks(long n, int *steps)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        unsigned long state = 2654435761ul * (unsigned long)(i + 1);
        int x = 0, y = 0, step = 0, wall = 3 + (int)(12 * i / n);
        while (x < wall && x > -wall && y < wall && y > -wall) {
            state = state * 6364136223846793005ul + 1442695040888963407ul;
            int way = (int)(state >> 62);
            x += (way == 0) - (way == 1);
            y += (way == 2) - (way == 3);
            step++;
        }
        steps[i] = step;
    }
}
