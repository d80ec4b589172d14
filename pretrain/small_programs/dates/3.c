#include <stdio.h>
#include <stdlib.h>

// Days since the first of January of year 1, by a table of days before each month.

static const int before_month[2][13] = {
	{0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334},
	{0, 0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335},
};

static int is_leap(int year)
{
	return !(year % 4) && (year % 100 || !(year % 400));
}

static int since_start(const char *text)
{
	char *p;
	int year = (int)strtol(text, &p, 10);
	int month = (int)strtol(p + 1, &p, 10);
	int day = (int)strtol(p + 1, &p, 10);
	int whole = year - 1;

	return whole * 365 + whole / 4 - whole / 100 + whole / 400 + before_month[is_leap(year)][month] + day - 1;
}

int main(void)
{
	char first[16], second[16];
	const char *names = "Monday\0   Tuesday\0  Wednesday\0Thursday\0 Friday\0   Saturday\0 Sunday\0";

	while (scanf("%15s %15s", first, second) == 2) {
		int a = since_start(first);
		int b = since_start(second);
		printf("%d %s\n", b - a, names + 10 * (b % 7));
	}
	return EXIT_SUCCESS;
}
