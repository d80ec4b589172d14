/* uneven: steps until a point leaves, a row at a time. */
void mandelbrot(long n, int *steps)
{
#pragma omp parallel for
    for (long row = 0; row < n; row++)
        for (long column = 0; column < n; column++) {
            double cx = -2 + 2.6 * column / n, cy = -1.3 + 1.3 * row / n, x = 0, y = 0;
            int step = 0;
            while (step < 200 && x * x + y * y < 4) {
                double next = x * x - y * y + cx;
                y = 2 * x * y + cy;
                x = next;
                step++;
            }
            steps[row * n + column] = step;
        }
}
