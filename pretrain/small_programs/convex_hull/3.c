#include <stdio.h>
#include <stdlib.h>

// Graham's scan: sorted by angle around the lowest point.

struct pt {
	int x, y;
};

static struct pt pivot;

static long area(const struct pt *a, const struct pt *b, const struct pt *c)
{
	return (long)(b->x - a->x) * (c->y - a->y) - (long)(c->x - a->x) * (b->y - a->y);
}

static long away(const struct pt *p)
{
	return labs((long)p->x - pivot.x) + labs((long)p->y - pivot.y);
}

static int by_angle(const void *l, const void *r)
{
	long a = area(&pivot, l, r);

	if (a != 0)
		return a > 0 ? -1 : 1;
	long d = away(l) - away(r);
	return d < 0 ? -1 : d > 0;
}

int main(void)
{
	int n, low = 0, top = 0;

	if (scanf("%d", &n) != 1)
		return EXIT_FAILURE;
	struct pt *p = calloc((size_t)n, sizeof *p);
	for (int i = 0; i < n; i++) {
		scanf("%d %d", &p[i].x, &p[i].y);
		if (p[i].y < p[low].y || (p[i].y == p[low].y && p[i].x < p[low].x))
			low = i;
	}
	pivot = p[low];
	p[low] = p[0];
	p[0] = pivot;
	qsort(p + 1, (size_t)n - 1, sizeof *p, by_angle);
	for (int i = 0; i < n; i++) {
		while (top >= 2 && area(&p[top - 2], &p[top - 1], &p[i]) <= 0)
			top--;
		p[top++] = p[i];
	}
	long twice = 0;
	for (int i = 1; i + 1 < top; i++)
		twice += area(&p[0], &p[i], &p[i + 1]);
	printf("%d %ld\n", top, twice);
	free(p);
	return EXIT_SUCCESS;
}
