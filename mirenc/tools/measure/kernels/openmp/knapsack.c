/* dynamic: the best value of each weight, with one thing more. */
void knapsack(long n, const int *best, int weight, int value, int *next)
{
#pragma omp parallel for
    for (long w = 0; w < n; w++) {
        int with = w >= weight ? best[w - weight] + value : 0;
        next[w] = with > best[w] ? with : best[w];
    }
}
