/* Simpson's rule with many strips */
#include <stdio.h>
#include <stdlib.h>

double *c;
int deg;

double f(double x) {
  int i;
  double y = 0;
  for (i = deg; i >= 0; i--) y = y * x + c[i];
  return y;
}

double simpson(double a, double b, int strips) {
  double h = (b - a) / strips, odd = 0, even = 0;
  int i;
  for (i = 1; i < strips; i++) {
    if (i & 1)
      odd += f(a + i * h);
    else
      even += f(a + i * h);
  }
  return h / 3 * (f(a) + 4 * odd + 2 * even + f(b));
}

int main() {
  double a, b;
  int i;
  while (scanf("%lf%lf%d", &a, &b, &deg) == 3) {
    c = malloc((deg + 1) * sizeof(double));
    for (i = 0; i <= deg; i++) scanf("%lf", c + i);
    printf("%.4f\n", simpson(a, b, 2000));
    free(c);
  }
  return 0;
}
