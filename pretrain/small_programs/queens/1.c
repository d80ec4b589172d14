#include <stdio.h>
#include <stdlib.h>

/* How many ways n queens can stand on an n by n board, and the first way in order. Recursion, row by row. */

#define MAX_SIZE 16

static int column_of[MAX_SIZE];
static int first_way[MAX_SIZE];
static long ways;

static int is_safe(int row, int column)
{
    for (int above = 0; above < row; above++) {
        if (column_of[above] == column)
            return 0;
        if (abs(column_of[above] - column) == row - above)
            return 0;
    }
    return 1;
}

static void place(int row, int size)
{
    if (row == size) {
        if (ways == 0)
            for (int i = 0; i < size; i++)
                first_way[i] = column_of[i];
        ways++;
        return;
    }
    for (int column = 0; column < size; column++) {
        if (is_safe(row, column)) {
            column_of[row] = column;
            place(row + 1, size);
        }
    }
}

int main(void)
{
    int size;
    while (scanf("%d", &size) == 1) {
        ways = 0;
        place(0, size);
        printf("%ld:", ways);
        for (int i = 0; ways > 0 && i < size; i++)
            printf(" %d", first_way[i] + 1);
        printf("\n");
    }
    return 0;
}
