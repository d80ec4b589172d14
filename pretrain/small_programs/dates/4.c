#include <stdio.h>

/* The weekday comes from Zeller's rule, the distance from years and days within the year. */

static int leap(int year) { return year % 4 == 0 ? (year % 100 == 0 ? year % 400 == 0 : 1) : 0; }

static int day_of_year(int year, int month, int day)
{
    int total = day;
    switch (month) {
    case 12: total += 30; /* fall through */
    case 11: total += 31; /* fall through */
    case 10: total += 30; /* fall through */
    case 9: total += 31; /* fall through */
    case 8: total += 31; /* fall through */
    case 7: total += 30; /* fall through */
    case 6: total += 31; /* fall through */
    case 5: total += 30; /* fall through */
    case 4: total += 31; /* fall through */
    case 3: total += 28 + leap(year); /* fall through */
    case 2: total += 31;
    }
    return total;
}

static const char *zeller(int q, int m, int y)
{
    static const char *names[] = {"Saturday", "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday"};
    if (m <= 2) {
        m += 12;
        y -= 1;
    }
    int k = y % 100, j = y / 100;
    return names[(q + 13 * (m + 1) / 5 + k + k / 4 + j / 4 + 5 * j) % 7];
}

int main(void)
{
    int ya, ma, da, yb, mb, db;
    while (scanf("%d-%d-%d", &ya, &ma, &da) == 3 && scanf("%d-%d-%d", &yb, &mb, &db) == 3) {
        int distance = day_of_year(yb, mb, db) - day_of_year(ya, ma, da);
        for (int y = ya; y < yb; y++)
            distance += 365 + leap(y);
        for (int y = yb; y < ya; y++)
            distance -= 365 + leap(y);
        printf("%d %s\n", distance, zeller(db, mb, yb));
    }
    return 0;
}
