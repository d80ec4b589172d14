#include <stdio.h>

/* A frame of one cell around the field holds copies of the far side, so that no index needs to wrap. */

enum { SIDE = 70 };

typedef int Board[SIDE][SIDE];

static int R, C;

static void wrap(Board b)
{
    for (int i = 1; i <= R; i++) {
        b[i][0] = b[i][C];
        b[i][C + 1] = b[i][1];
    }
    for (int j = 0; j <= C + 1; j++) {
        b[0][j] = b[R][j];
        b[R + 1][j] = b[1][j];
    }
}

static void evolve(Board from, Board to)
{
    static const int rule[2][9] = {{0, 0, 0, 1, 0, 0, 0, 0, 0}, {0, 0, 1, 1, 0, 0, 0, 0, 0}};
    wrap(from);
    for (int i = 1; i <= R; i++) {
        for (int j = 1; j <= C; j++) {
            int sum = from[i - 1][j - 1] + from[i - 1][j] + from[i - 1][j + 1] + from[i][j - 1] + from[i][j + 1] +
                      from[i + 1][j - 1] + from[i + 1][j] + from[i + 1][j + 1];
            to[i][j] = rule[from[i][j]][sum];
        }
    }
}

int main(void)
{
    static Board a, b;
    int K, population = 0;
    scanf("%d %d %d\n", &R, &C, &K);
    for (int i = 1; i <= R; i++, getchar())
        for (int j = 1; j <= C; j++)
            a[i][j] = getchar() == '#';
    for (; K > 1; K -= 2) {
        evolve(a, b);
        evolve(b, a);
    }
    if (K == 1)
        evolve(a, b);
    int(*last)[SIDE] = K == 1 ? b : a;
    for (int i = 1; i <= R; i++) {
        for (int j = 1; j <= C; j++) {
            population += last[i][j];
            putchar(".#"[last[i][j]]);
        }
        putchar('\n');
    }
    printf("%d\n", population);
    return 0;
}
