#include <stdio.h>
#include <stdlib.h>

/* Branch and bound: densest items first; a branch ends where even a fraction of the next item cannot help. */

struct item {
    int weight, value;
};

static struct item items[64];
static int count;
static int best_value, best_weight;

static int by_density(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return y->value * x->weight - x->value * y->weight;
}

static double bound(int next, int room, int value)
{
    double limit = value;
    for (; next < count && items[next].weight <= room; next++) {
        room -= items[next].weight;
        limit += items[next].value;
    }
    if (next < count)
        limit += (double)items[next].value * room / items[next].weight;
    return limit;
}

static void explore(int next, int room, int value, int weight)
{
    if (value > best_value || (value == best_value && weight < best_weight)) {
        best_value = value;
        best_weight = weight;
    }
    if (next == count || bound(next, room, value) < best_value)
        return;
    if (items[next].weight <= room)
        explore(next + 1, room - items[next].weight, value + items[next].value, weight + items[next].weight);
    explore(next + 1, room, value, weight);
}

int main(void)
{
    int capacity;
    scanf("%d %d", &count, &capacity);
    for (struct item *i = items; i < items + count; i++)
        scanf("%d %d", &i->weight, &i->value);
    qsort(items, (size_t)count, sizeof items[0], by_density);
    explore(0, capacity, 0, 0);
    printf("%d %d\n", best_value, best_weight);
    return 0;
}
