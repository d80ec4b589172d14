#include <math.h>
#include <stdio.h>
#include <string.h>

// Gauss-Seidel: each unknown in turn from the newest values of the others.

enum { N = 32 };

struct system {
	int n;
	double a[N][N];
	double b[N];
};

static int read_system(struct system *s)
{
	if (scanf("%d", &s->n) != 1 || s->n > N)
		return 0;
	for (int i = 0; i < s->n; i++) {
		for (int j = 0; j < s->n; j++)
			if (scanf("%lf", &s->a[i][j]) != 1)
				return 0;
		if (scanf("%lf", &s->b[i]) != 1)
			return 0;
	}
	return 1;
}

static double sweep(const struct system *s, double *x)
{
	double change = 0;

	for (int i = 0; i < s->n; i++) {
		double rest = s->b[i];
		for (int j = 0; j < s->n; j++)
			if (j != i)
				rest -= s->a[i][j] * x[j];
		rest /= s->a[i][i];
		change = fmax(change, fabs(rest - x[i]));
		x[i] = rest;
	}
	return change;
}

int main(void)
{
	static struct system s;
	double x[N];
	int rounds = 0;

	if (!read_system(&s))
		return 1;
	memset(x, 0, sizeof x);
	while (sweep(&s, x) > 1e-12 && ++rounds < 10000)
		;
	for (int i = 0; i < s.n; i++)
		printf("%.3f\n", x[i]);
	return 0;
}
