#include <math.h>
#include <stdio.h>

// Romberg: trapezoids of halved width, and Richardson's extrapolation.

struct polynomial {
	int degree;
	double factor[24];
};

static double value(const struct polynomial *p, double x)
{
	double sum = 0;

	for (int k = 0; k <= p->degree; k++)
		sum += p->factor[k] * pow(x, k);
	return sum;
}

static double romberg(const struct polynomial *p, double a, double b)
{
	double table[16][16];
	double width = b - a;

	table[0][0] = width * (value(p, a) + value(p, b)) / 2;
	for (int row = 1; row < 16; row++) {
		double middle = 0;
		width /= 2;
		for (long i = 1; i < 1L << row; i += 2)
			middle += value(p, a + (double)i * width);
		table[row][0] = table[row - 1][0] / 2 + width * middle;
		double four = 1;
		for (int column = 1; column <= row; column++) {
			four *= 4;
			table[row][column] = table[row][column - 1] +
			                     (table[row][column - 1] - table[row - 1][column - 1]) / (four - 1);
		}
		if (row > 3 && fabs(table[row][row] - table[row - 1][row - 1]) < 1e-9)
			return table[row][row];
	}
	return table[15][15];
}

int main(void)
{
	struct polynomial p;
	double a, b;

	while (scanf("%lf %lf %d", &a, &b, &p.degree) == 3) {
		for (int k = 0; k <= p.degree; k++)
			scanf("%lf", &p.factor[k]);
		printf("%.4f\n", romberg(&p, a, b));
	}
	return 0;
}
