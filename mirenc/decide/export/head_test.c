/* Compares $name.c with what Python answered for $rows rows, and times it:
 *
 *     cc -std=c99 -O2 $name.c ${name}_test.c -lm -o ${name}_test && ./${name}_test
 *
 * A row is drawn from low to low + range, each tenth is a thousand times as large. The sum of a row is that of its
 * scores times 1, 2, 3, ...
 */
#include <math.h>
#include <stdio.h>
#include <time.h>

$prototype;

$tables
static double drawn(void)
{
    static unsigned long state = 1;
    state = (state * 1664525UL + 1013904223UL) & 0xffffffffUL;
    return (double)state / 4294967296.0;
}

static double rows[$rows][$columns], score[$scores];

int main(void)
{
    int different = 0;
    long answers = 0;
    double worst = 0;
    for (int row = 0; row < $rows; row++)
        for (int i = 0; i < $columns; i++) rows[row][i] = (row % 10 == 9 ? 1000 : 1) * ($low[i] + $range[i] * drawn());
    for (int row = 0; row < $rows; row++) {
        double sum = 0, away;
        different += $name(rows[row]$passed, score) != $choices[row];
        for (int i = 0; i < $scores; i++) sum += (i + 1) * score[i];
        away = fabs(sum - $sums[row]) / (1 + fabs($sums[row]));
        worst = away > worst || isnan(away) ? away : worst;
    }
    clock_t start = clock();
    for (; clock() - start < CLOCKS_PER_SEC / 10; answers += $rows)
        for (int row = 0; row < $rows; row++) $name(rows[row]$passed, score);
    printf("%d of $rows choices differ, scores by at most %.1e, %.0f ns a decision\n", different, worst,
           1e9 * (double)(clock() - start) / CLOCKS_PER_SEC / (double)answers);
    rows[0][$columns - 1] = NAN;
    return different > 0 || !(worst < 1e-9) || $name(rows[0]$passed, score) != -1;
}
