#include <stdio.h>
#include <stdlib.h>

/* Dijkstra with a binary heap and adjacency lists in arrays. */

typedef struct { long dist; int node; } Item;

static Item heap[10000];
static int size;

static void push(long dist, int node) {
    int i = size++;
    while (i > 0 && heap[(i - 1) / 2].dist > dist) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i].dist = dist;
    heap[i].node = node;
}

static Item pop(void) {
    Item top = heap[0], last = heap[--size];
    int i = 0, c;
    while ((c = 2 * i + 1) < size) {
        if (c + 1 < size && heap[c + 1].dist < heap[c].dist) c++;
        if (heap[c].dist >= last.dist) break;
        heap[i] = heap[c];
        i = c;
    }
    heap[i] = last;
    return top;
}

int main(void) {
    int n, m;
    if (scanf("%d%d", &n, &m) != 2) return 1;
    int *head = malloc((n + 1) * sizeof(int));
    int *next = malloc((m + 1) * sizeof(int)), *to = malloc((m + 1) * sizeof(int)), *len = malloc((m + 1) * sizeof(int));
    long *best = malloc((n + 1) * sizeof(long));
    for (int i = 0; i <= n; i++) { head[i] = -1; best[i] = -1; }
    for (int i = 0; i < m; i++) {
        int u;
        scanf("%d%d%d", &u, &to[i], &len[i]);
        next[i] = head[u];
        head[u] = i;
    }
    push(0, 1);
    while (size) {
        Item it = pop();
        if (best[it.node] >= 0) continue;
        best[it.node] = it.dist;
        for (int e = head[it.node]; e >= 0; e = next[e])
            if (best[to[e]] < 0) push(it.dist + len[e], to[e]);
    }
    for (int i = 1; i <= n; i++) printf("%ld\n", best[i]);
    free(head); free(next); free(to); free(len); free(best);
    return 0;
}
