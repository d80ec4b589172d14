#include <stdio.h>
#include <string.h>

/* Breaks the time since a fixed day into 400-year, 100-year, 4-year and single years, by recursion over units. */

struct unit {
  int years;
  int days;
};

static const struct unit units[] = {{400, 146097}, {100, 36524}, {4, 1461}, {1, 365}};

static int days_of_years(int years, int which) {
  if (which == 4) return 0;
  int times = years / units[which].years;
  return times * units[which].days + days_of_years(years - times * units[which].years, which + 1);
}

static int month_length(int month, int leap) {
  const char *lengths = leap ? "\37\35\37\36\37\36\37\37\36\37\36\37" : "\37\34\37\36\37\36\37\37\36\37\36\37";
  return lengths[month - 1];
}

static int days_of_months(int month, int leap) {
  return month == 1 ? 0 : month_length(month - 1, leap) + days_of_months(month - 1, leap);
}

static int to_days(int year, int month, int day) {
  int leap = year % 4 == 0 && (year % 100 || year % 400 == 0);
  return days_of_years(year - 1, 0) + days_of_months(month, leap) + day;
}

int main(void) {
  char week[7][12];
  strcpy(week[0], "Sunday");
  strcpy(week[1], "Monday");
  strcpy(week[2], "Tuesday");
  strcpy(week[3], "Wednesday");
  strcpy(week[4], "Thursday");
  strcpy(week[5], "Friday");
  strcpy(week[6], "Saturday");
  int f[6];
  while (scanf("%d-%d-%d %d-%d-%d", f, f + 1, f + 2, f + 3, f + 4, f + 5) == 6) {
    int end = to_days(f[3], f[4], f[5]);
    printf("%d %s\n", end - to_days(f[0], f[1], f[2]), week[end % 7]);
  }
  return 0;
}
