#include <stdio.h>

/* walks from one date to the other, day by day */

typedef struct { int y, m, d; } date;

int leap(int y) { return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0; }

int month_days(int y, int m) {
  if (m == 2) return leap(y) ? 29 : 28;
  return (m == 4 || m == 6 || m == 9 || m == 11) ? 30 : 31;
}

int before(date a, date b) {
  if (a.y != b.y) return a.y < b.y;
  if (a.m != b.m) return a.m < b.m;
  return a.d < b.d;
}

void tomorrow(date *t) {
  if (++t->d > month_days(t->y, t->m)) {
    t->d = 1;
    if (++t->m > 12) {
      t->m = 1;
      t->y++;
    }
  }
}

int steps(date a, date b) {
  int n = 0;
  while (before(a, b)) {
    tomorrow(&a);
    n++;
  }
  return n;
}

int main(void) {
  char *week[7] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
  date a, b, monday = {1900, 1, 1};
  while (scanf("%d-%d-%d %d-%d-%d", &a.y, &a.m, &a.d, &b.y, &b.m, &b.d) == 6) {
    int n = before(b, a) ? -steps(b, a) : steps(a, b);
    printf("%d %s\n", n, week[steps(monday, b) % 7]);
  }
  return 0;
}
