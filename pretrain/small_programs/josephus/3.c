#include <stdio.h>
#include <stdlib.h>

// A queue in a ring buffer: k - 1 people go to the back, the next one goes home.

struct queue {
	int *slot;
	size_t capacity, first, length;
};

static void put(struct queue *q, int value)
{
	q->slot[(q->first + q->length) % q->capacity] = value;
	q->length++;
}

static int get(struct queue *q)
{
	int value = q->slot[q->first];

	q->first = (q->first + 1) % q->capacity;
	q->length--;
	return value;
}

static void play(int people, int count)
{
	struct queue q = {.capacity = (size_t)people};

	q.slot = malloc(q.capacity * sizeof(int));
	for (int i = 1; i <= people; i++)
		put(&q, i);
	while (q.length > 1) {
		for (int i = 1; i < count; i++)
			put(&q, get(&q));
		printf("%d ", get(&q));
	}
	printf("%d\n", get(&q));
	free(q.slot);
}

int main(void)
{
	int people, count;

	while (scanf("%d %d", &people, &count) == 2)
		play(people, count);
	return EXIT_SUCCESS;
}
