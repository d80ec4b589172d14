#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Breadth first with a queue of cells; a border of water saves the bounds checks.

struct queue {
	int *cell;
	int head, tail;
};

static int spread(char *map, int stride, int start, struct queue *q)
{
	const int step[4] = {1, -1, stride, -stride};

	q->head = q->tail = 0;
	q->cell[q->tail++] = start;
	map[start] = 0;
	while (q->head < q->tail) {
		int here = q->cell[q->head++];
		for (int k = 0; k < 4; k++) {
			int there = here + step[k];
			if (map[there]) {
				map[there] = 0;
				q->cell[q->tail++] = there;
			}
		}
	}
	return q->tail;
}

int main(void)
{
	int h, w, islands = 0, best = 0;
	char line[256];

	scanf("%d %d", &h, &w);
	int stride = w + 2, cells = (h + 2) * stride;
	char *map = calloc((size_t)cells, 1);
	struct queue q = {.cell = malloc(sizeof(int) * (size_t)cells)};
	for (int y = 1; y <= h; y++) {
		scanf("%255s", line);
		for (int x = 1; x <= w; x++)
			map[y * stride + x] = line[x - 1] == '#';
	}
	for (int i = 0; i < cells; i++) {
		if (!map[i])
			continue;
		int size = spread(map, stride, i, &q);
		islands++;
		best = size > best ? size : best;
	}
	printf("%d %d\n", islands, best);
	free(q.cell);
	free(map);
	return 0;
}
