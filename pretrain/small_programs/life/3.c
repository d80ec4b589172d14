#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Every living cell raises a counter of its eight neighbours; a flat array with wrapped indices.

struct life {
	int height, width;
	unsigned char *alive;
	unsigned char *count;
};

static void touch(struct life *l, int y, int x)
{
	if (y < 0)
		y += l->height;
	if (x < 0)
		x += l->width;
	if (y >= l->height)
		y -= l->height;
	if (x >= l->width)
		x -= l->width;
	l->count[y * l->width + x]++;
}

static void step(struct life *l)
{
	int cells = l->height * l->width;

	memset(l->count, 0, (size_t)cells);
	for (int i = 0; i < cells; i++) {
		if (!l->alive[i])
			continue;
		int y = i / l->width, x = i % l->width;
		for (int k = 0; k < 9; k++)
			if (k != 4)
				touch(l, y + k / 3 - 1, x + k % 3 - 1);
	}
	for (int i = 0; i < cells; i++)
		l->alive[i] = l->count[i] == 3 || (l->alive[i] && l->count[i] == 2);
}

int main(void)
{
	struct life l;
	int steps, sum = 0;
	char c;

	scanf("%d %d %d", &l.height, &l.width, &steps);
	int cells = l.height * l.width;
	l.alive = calloc((size_t)cells, 1);
	l.count = calloc((size_t)cells, 1);
	for (int i = 0; i < cells; i++) {
		scanf(" %c", &c);
		l.alive[i] = c == '#';
	}
	while (steps-- > 0)
		step(&l);
	for (int i = 0; i < cells; i++) {
		putchar(l.alive[i] ? '#' : '.');
		if ((i + 1) % l.width == 0)
			putchar('\n');
		sum += l.alive[i];
	}
	printf("%d\n", sum);
	free(l.alive);
	free(l.count);
	return 0;
}
