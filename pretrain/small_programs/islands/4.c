#include <stdio.h>
#include <string.h>

/* Labels sink to the smallest among neighbours, pass after pass, until a pass changes nothing. */

#define SIDE 80

static int label[SIDE][SIDE];
static int tally[SIDE * SIDE + 1];

static int lower(int *mine, int theirs)
{
    if (theirs == 0 || theirs >= *mine)
        return 0;
    *mine = theirs;
    return 1;
}

static int sweep(int h, int w)
{
    int changes = 0;
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            int *l = &label[y][x];
            if (*l == 0)
                continue;
            if (y > 0)
                changes += lower(l, label[y - 1][x]);
            if (x > 0)
                changes += lower(l, label[y][x - 1]);
            if (y + 1 < h)
                changes += lower(l, label[y + 1][x]);
            if (x + 1 < w)
                changes += lower(l, label[y][x + 1]);
        }
    }
    return changes;
}

int main(void)
{
    int h, w, next = 1, count = 0, most = 0;
    char line[SIDE + 2];
    scanf("%d %d", &h, &w);
    for (int y = 0; y < h; y++) {
        scanf("%81s", line);
        for (int x = 0; x < w; x++, next++)
            label[y][x] = line[x] == '#' ? next : 0;
    }
    while (sweep(h, w) > 0) {
    }
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            if (label[y][x] > 0 && tally[label[y][x]]++ == 0)
                count++;
    for (int l = 1; l < next; l++)
        if (tally[l] > most)
            most = tally[l];
    printf("%d %d\n", count, most);
    return 0;
}
