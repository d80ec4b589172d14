#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Blocks of about the square root of the length, each with its sum. */

typedef struct {
    int length, width;
    int *values;
    long long *block_sums;
} Blocks;

static Blocks create(int length)
{
    Blocks b;
    b.length = length;
    b.width = (int)sqrt((double)length) + 1;
    b.values = calloc((size_t)length, sizeof(int));
    b.block_sums = calloc((size_t)(length / b.width + 1), sizeof(long long));
    return b;
}

static void set(Blocks *b, int at, int value)
{
    b->block_sums[at / b->width] += value - b->values[at];
    b->values[at] = value;
}

static long long sum(const Blocks *b, int at, int end)
{
    long long total = 0;
    while (at < end) {
        if (at % b->width == 0 && at + b->width <= end) {
            total += b->block_sums[at / b->width];
            at += b->width;
        } else {
            total += b->values[at++];
        }
    }
    return total;
}

int main(void)
{
    int length, orders, x, y;
    char order[4];
    scanf("%d", &length);
    Blocks b = create(length);
    for (int i = 0; i < length; i++) {
        scanf("%d", &x);
        set(&b, i, x);
    }
    for (scanf("%d", &orders); orders > 0; orders--) {
        scanf("%3s %d %d", order, &x, &y);
        switch (order[2]) {
        case 't':
            set(&b, x - 1, y);
            break;
        case 'm':
            printf("%lld\n", sum(&b, x - 1, y));
            break;
        }
    }
    free(b.values);
    free(b.block_sums);
    return 0;
}
