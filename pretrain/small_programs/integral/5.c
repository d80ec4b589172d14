#include <math.h>
#include <stdio.h>

/* Adds up trapezoids, twice as many each time, until three results in a row agree after extrapolation. */

typedef double (*function)(double x, const void *data);

typedef struct {
  int n;
  double c[16];
} poly;

static double eval(double x, const void *data) {
  const poly *p = data;
  const double *k = p->c + p->n;
  double y = *k;
  while (k-- > p->c) y = y * x + *k;
  return y;
}

static double trapezoids(function f, const void *data, double a, double b, long n) {
  double h = (b - a) / (double)n, sum = 0;
  double x = a, left = f(a, data);
  for (long i = 0; i < n; i++) {
    x = a + (double)(i + 1) * h;
    double right = f(x, data);
    sum += (left + right) / 2 * h;
    left = right;
  }
  return sum;
}

static double refine(function f, const void *data, double a, double b) {
  double coarse = trapezoids(f, data, a, b, 8), last = 0;
  int agree = 0;
  for (long n = 16; agree < 3 && n < 1L << 20; n *= 2) {
    double fine = trapezoids(f, data, a, b, n);
    double better = fine + (fine - coarse) / 3;
    agree = fabs(better - last) < 1e-8 ? agree + 1 : 0;
    last = better;
    coarse = fine;
  }
  return last;
}

int main(void) {
  poly p;
  double a, b;
  while (scanf("%lf%lf%d", &a, &b, &p.n) == 3) {
    int k = 0;
    do scanf("%lf", &p.c[k]);
    while (k++ < p.n);
    printf("%.4f\n", refine(eval, &p, a, b));
  }
  return 0;
}
