#include <stdbool.h>
#include <stdio.h>

// Bellman-Ford: relax every edge until nothing changes any more.

struct edge {
	int tail, head, cost;
};

static struct edge edges[1000];
static int dist[128];

static bool relax_all(int m)
{
	bool changed = false;

	for (const struct edge *e = edges; e != edges + m; e++) {
		if (dist[e->tail] < 0)
			continue;
		int through = dist[e->tail] + e->cost;
		if (dist[e->head] < 0 || through < dist[e->head]) {
			dist[e->head] = through;
			changed = true;
		}
	}
	return changed;
}

int main(void)
{
	int n, m;

	scanf("%d %d", &n, &m);
	for (int i = 0; i < m; i++)
		scanf("%d %d %d", &edges[i].tail, &edges[i].head, &edges[i].cost);
	for (int i = 2; i <= n; i++)
		dist[i] = -1;
	while (relax_all(m))
		;
	for (int i = 1; i <= n; i++)
		printf("%d\n", dist[i]);
	return 0;
}
