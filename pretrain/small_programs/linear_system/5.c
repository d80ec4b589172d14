#include <math.h>
#include <stdio.h>

/* Conjugate gradients. */

typedef double Vec[24];

static int n;
static Vec A[24];

static double dot(const double *u, const double *v) {
  double s = 0;
  for (int i = 0; i < n; i++) s += u[i] * v[i];
  return s;
}

/* y <- y + alpha x */
static void axpy(double alpha, const double *x, double *y) {
  for (int i = 0; i < n; i++) y[i] += alpha * x[i];
}

static void apply(const double *x, double *y) {
  for (int i = 0; i < n; i++) y[i] = dot(A[i], x);
}

int main(void) {
  Vec x = {0}, r, p, q;
  scanf("%d", &n);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) scanf("%lf", &A[i][j]);
    scanf("%lf", &r[i]);
    p[i] = r[i];
  }
  double rho = dot(r, r);
  for (int k = 0; k < 4 * n && sqrt(rho) > 1e-13; k++) {
    apply(p, q);
    double alpha = rho / dot(p, q);
    axpy(alpha, p, x);
    axpy(-alpha, q, r);
    double fresh = dot(r, r);
    double beta = fresh / rho;
    for (int i = 0; i < n; i++) p[i] = r[i] + beta * p[i];
    rho = fresh;
  }
  for (int i = 0; i < n; i++) printf("%.3f\n", x[i]);
  return 0;
}
