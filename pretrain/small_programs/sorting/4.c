#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int lo, hi;
} Range;

static int partition(int v[], int lo, int hi) {
    int pivot = v[(lo + hi) / 2];
    int i = lo - 1, j = hi + 1;
    for (;;) {
        do { i++; } while (v[i] < pivot);
        do { j--; } while (v[j] > pivot);
        if (i >= j)
            return j;
        int swap = v[i];
        v[i] = v[j];
        v[j] = swap;
    }
}

/* Quicksort without recursion: ranges still to do wait on a stack. */
static void quicksort(int v[], int n) {
    Range stack[64];
    int top = 0;
    stack[top++] = (Range){0, n - 1};
    while (top > 0) {
        Range r = stack[--top];
        while (r.lo < r.hi) {
            int cut = partition(v, r.lo, r.hi);
            if (cut - r.lo < r.hi - cut) {
                stack[top++] = (Range){cut + 1, r.hi};
                r.hi = cut;
            } else {
                stack[top++] = (Range){r.lo, cut};
                r.lo = cut + 1;
            }
        }
    }
}

int main(void) {
    int n;
    scanf("%d", &n);
    int *v = malloc(sizeof(int) * (n > 0 ? n : 1));
    for (int *p = v; p < v + n; p++)
        scanf("%d", p);
    quicksort(v, n);
    for (int *p = v; p < v + n; p++)
        printf(p == v ? "%d" : " %d", *p);
    printf("\n");
    free(v);
}
