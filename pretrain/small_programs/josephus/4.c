#include <stdio.h>
#include <string.h>

/* A Fenwick tree counts who is left; the place of the next one is found by descending through it. */

#define LIMIT 1024

static int tree[LIMIT + 1];

static void add(int place, int amount)
{
    for (; place <= LIMIT; place += place & -place)
        tree[place] += amount;
}

/* Number of the person with `rank` others before, counted among those left. */
static int select_person(int rank)
{
    int place = 0;
    for (int step = LIMIT; step > 0; step /= 2) {
        if (place + step <= LIMIT && tree[place + step] <= rank) {
            place += step;
            rank -= tree[place];
        }
    }
    return place + 1;
}

int main(void)
{
    int people, count;
    while (scanf("%d %d", &people, &count) == 2) {
        memset(tree, 0, sizeof tree);
        for (int i = 1; i <= people; i++)
            add(i, 1);
        int rank = 0;
        for (int left = people; left > 0; left--) {
            rank = (rank + count - 1) % left;
            int person = select_person(rank);
            add(person, -1);
            printf("%d%s", person, left > 1 ? " " : "\n");
        }
    }
    return 0;
}
