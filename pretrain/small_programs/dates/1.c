#include <stdio.h>

/* For pairs of dates: days between them and the weekday of the second. By day numbers with a formula. */

static long day_number(int year, int month, int day)
{
    if (month < 3) {
        year--;
        month += 12;
    }
    return 365L * year + year / 4 - year / 100 + year / 400 + (153 * (month - 3) + 2) / 5 + day - 306;
}

int main(void)
{
    static const char *const names[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
    int y1, m1, d1, y2, m2, d2;

    while (scanf("%d-%d-%d %d-%d-%d", &y1, &m1, &d1, &y2, &m2, &d2) == 6) {
        long first = day_number(y1, m1, d1);
        long second = day_number(y2, m2, d2);
        printf("%ld %s\n", second - first, names[(second % 7 + 7) % 7]);
    }
    return 0;
}
