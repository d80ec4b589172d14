#include <limits.h>
#include <stdio.h>

/* Dijkstra on an adjacency matrix, choosing the next node by a scan. */

#define LIMIT 101

static int weight[LIMIT][LIMIT];
static int distance[LIMIT];
static char done[LIMIT];

static int nearest(int nodes)
{
    int best = 0;
    for (int i = 1; i <= nodes; i++)
        if (!done[i] && distance[i] != INT_MAX && (best == 0 || distance[i] < distance[best]))
            best = i;
    return best;
}

int main(void)
{
    int nodes, edges;
    scanf("%d %d", &nodes, &edges);
    for (int e = 0; e < edges; e++) {
        int from, to, length;
        scanf("%d %d %d", &from, &to, &length);
        if (weight[from][to] == 0 || length < weight[from][to])
            weight[from][to] = length;
    }
    for (int i = 1; i <= nodes; i++)
        distance[i] = INT_MAX;
    distance[1] = 0;
    for (int at = nearest(nodes); at != 0; at = nearest(nodes)) {
        done[at] = 1;
        for (int next = 1; next <= nodes; next++) {
            if (weight[at][next] == 0)
                continue;
            int length = distance[at] + weight[at][next];
            if (length < distance[next])
                distance[next] = length;
        }
    }
    for (int i = 1; i <= nodes; i++)
        printf("%d\n", distance[i] == INT_MAX ? -1 : distance[i]);
    return 0;
}
