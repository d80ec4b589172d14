#include <stdio.h>
#include <stdlib.h>

// Segment tree in an array, leaves at size .. 2 * size - 1, without recursion.

static int size = 1;
static long *tree;

static void build(int count)
{
	while (size < count)
		size *= 2;
	tree = calloc(2 * (size_t)size, sizeof(long));
	for (int i = 0; i < count; i++)
		scanf("%ld", &tree[size + i]);
	for (int i = size - 1; i > 0; i--)
		tree[i] = tree[2 * i] + tree[2 * i + 1];
}

static void assign(int place, long value)
{
	place += size;
	tree[place] = value;
	while (place >>= 1)
		tree[place] = tree[2 * place] + tree[2 * place + 1];
}

static long query(int from, int past)
{
	long result = 0;

	for (from += size, past += size; from < past; from >>= 1, past >>= 1) {
		if (from & 1)
			result += tree[from++];
		if (past & 1)
			result += tree[--past];
	}
	return result;
}

int main(void)
{
	int count, orders, a, b;
	char kind;

	scanf("%d", &count);
	build(count);
	scanf("%d", &orders);
	for (int i = 0; i < orders; i++) {
		scanf(" s%c%*c %d %d", &kind, &a, &b);
		if (kind == 'u')
			printf("%ld\n", query(a - 1, b));
		else
			assign(a - 1, b);
	}
	free(tree);
	return 0;
}
