/* uneven: how long each number takes to come to 1. */
void collatz(long n, int *steps)
{
#pragma omp parallel for
    for (long i = 1; i < n; i++) {
        long at = i;
        int step = 0;
        while (at != 1) {
            at = at % 2 ? 3 * at + 1 : at / 2;
            step++;
        }
        steps[i] = step;
    }
}
