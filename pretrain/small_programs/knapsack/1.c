#include <stdio.h>

/* Greatest value of items that fit; each item once. A table of items by capacity. */

#define ITEMS 60
#define CAPACITY 1000

static int best[ITEMS + 1][CAPACITY + 1];
static int weight[ITEMS + 1], value[ITEMS + 1];

static int larger(int a, int b)
{
    return a > b ? a : b;
}

int main(void)
{
    int count, capacity;
    scanf("%d %d", &count, &capacity);
    for (int i = 1; i <= count; i++)
        scanf("%d %d", &weight[i], &value[i]);
    for (int i = 1; i <= count; i++) {
        for (int room = 0; room <= capacity; room++) {
            best[i][room] = best[i - 1][room];
            if (weight[i] <= room)
                best[i][room] = larger(best[i][room], best[i - 1][room - weight[i]] + value[i]);
        }
    }
    int load = 0;
    while (load < capacity && best[count][load] < best[count][capacity])
        load++;
    printf("%d %d\n", best[count][capacity], load);
    return 0;
}
