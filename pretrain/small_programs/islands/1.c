#include <stdio.h>

/* Counts islands of '#' in a map and the cells of the largest one. Flood fill by recursion. */

#define MAX 100

static char map[MAX][MAX + 2];
static int rows, columns;

static int flood(int row, int column)
{
    if (row < 0 || row >= rows || column < 0 || column >= columns)
        return 0;
    if (map[row][column] != '#')
        return 0;
    map[row][column] = '~';
    return 1 + flood(row - 1, column) + flood(row + 1, column) + flood(row, column - 1) + flood(row, column + 1);
}

int main(void)
{
    int islands = 0, largest = 0;
    scanf("%d %d", &rows, &columns);
    for (int row = 0; row < rows; row++)
        scanf("%101s", map[row]);
    for (int row = 0; row < rows; row++) {
        for (int column = 0; column < columns; column++) {
            int size = flood(row, column);
            if (size > 0)
                islands++;
            if (size > largest)
                largest = size;
        }
    }
    printf("%d %d\n", islands, largest);
    return 0;
}
