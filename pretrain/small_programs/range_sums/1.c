#include <stdio.h>
#include <stdlib.h>

/* Values, then orders: "set place value" changes one, "sum from to" prints a sum. A plain loop for each sum. */

static long sum(const long *value, int from, int to)
{
    long total = 0;
    for (int place = from; place <= to; place++)
        total += value[place];
    return total;
}

int main(void)
{
    int count, orders;
    if (scanf("%d", &count) != 1)
        return 1;
    long *value = malloc((size_t)count * sizeof *value);
    for (int i = 0; i < count; i++)
        scanf("%ld", &value[i]);
    scanf("%d", &orders);
    while (orders-- > 0) {
        char word[8];
        int a, b;
        scanf("%7s %d %d", word, &a, &b);
        if (word[1] == 'e')
            value[a - 1] = b;
        else
            printf("%ld\n", sum(value, a - 1, b - 1));
    }
    free(value);
    return 0;
}
