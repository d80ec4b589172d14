#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Permutations made by swaps, cut off early; the smallest solution is kept by comparing. */

typedef struct {
    int n;
    int *row;
    int *best;
    char *sum, *diff;
    long total;
} Puzzle;

static void swap(int *a, int *b)
{
    int t = *a;
    *a = *b;
    *b = t;
}

static int smaller(const int *a, const int *b, int n)
{
    for (int i = 0; i < n; i++)
        if (a[i] != b[i])
            return a[i] < b[i];
    return 0;
}

static void permute(Puzzle *p, int k)
{
    if (k == p->n) {
        if (p->total++ == 0 || smaller(p->row, p->best, p->n))
            memcpy(p->best, p->row, sizeof(int) * p->n);
        return;
    }
    for (int i = k; i < p->n; i++) {
        swap(&p->row[k], &p->row[i]);
        char *s = &p->sum[k + p->row[k]], *d = &p->diff[p->n + k - p->row[k]];
        if (!*s && !*d) {
            *s = *d = 1;
            permute(p, k + 1);
            *s = *d = 0;
        }
        swap(&p->row[k], &p->row[i]);
    }
}

int main(void)
{
    Puzzle p;
    while (scanf("%d", &p.n) == 1) {
        p.row = malloc(sizeof(int) * p.n);
        p.best = calloc(p.n, sizeof(int));
        p.sum = calloc(2 * p.n + 2, 1);
        p.diff = calloc(2 * p.n + 2, 1);
        p.total = 0;
        for (int i = 0; i < p.n; i++)
            p.row[i] = i + 1;
        permute(&p, 0);
        printf("%ld:", p.total);
        for (int i = 0; p.total && i < p.n; i++)
            printf(" %d", p.best[i]);
        puts("");
        free(p.row), free(p.best), free(p.sum), free(p.diff);
    }
    return 0;
}
