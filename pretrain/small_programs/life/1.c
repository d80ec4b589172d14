#include <stdio.h>
#include <string.h>

/* Game of life on a torus: rows, columns, generations, then the field. Two fields take turns. */

#define MAX 64

static char field[2][MAX][MAX + 2];

static int neighbours(char (*from)[MAX + 2], int rows, int columns, int row, int column)
{
    int alive = 0;
    for (int dr = -1; dr <= 1; dr++)
        for (int dc = -1; dc <= 1; dc++)
            if (dr != 0 || dc != 0)
                alive += from[(row + dr + rows) % rows][(column + dc + columns) % columns] == '#';
    return alive;
}

int main(void)
{
    int rows, columns, generations, now = 0, alive = 0;

    scanf("%d %d %d", &rows, &columns, &generations);
    for (int row = 0; row < rows; row++)
        scanf("%65s", field[0][row]);
    memcpy(field[1], field[0], sizeof field[0]);
    for (int step = 0; step < generations; step++) {
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                int around = neighbours(field[now], rows, columns, row, column);
                int lives = around == 3 || (around == 2 && field[now][row][column] == '#');
                field[1 - now][row][column] = lives ? '#' : '.';
            }
        }
        now = 1 - now;
    }
    for (int row = 0; row < rows; row++) {
        puts(field[now][row]);
        for (int column = 0; column < columns; column++)
            alive += field[now][row][column] == '#';
    }
    printf("%d\n", alive);
    return 0;
}
