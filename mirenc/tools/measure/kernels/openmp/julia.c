/* uneven: the same with a fixed constant, both loops as one. */
void julia(long n, int *steps)
{
#pragma omp parallel for collapse(2)
    for (long row = 0; row < n; row++)
        for (long column = 0; column < n; column++) {
            float x = -1.6f + 3.2f * column / n, y = -1.2f + 2.4f * row / n;
            int step = 0;
            while (step < 100 && x * x + y * y < 4) {
                float next = x * x - y * y - 0.8f;
                y = 2 * x * y + 0.156f;
                x = next;
                step++;
            }
            steps[row * n + column] = step;
        }
}
