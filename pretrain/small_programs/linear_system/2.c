/* Cholesky, for symmetric positive definite systems */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define A(i, j) a[(i) * n + (j)]
#define L(i, j) l[(i) * n + (j)]

void factor(double *a, double *l, int n) {
  int i, j, k;
  for (i = 0; i < n; i++)
    for (j = 0; j <= i; j++) {
      double s = A(i, j);
      for (k = 0; k < j; k++) s -= L(i, k) * L(j, k);
      if (i == j)
        L(i, i) = sqrt(s);
      else
        L(i, j) = s / L(j, j);
    }
}

void forward(double *l, double *b, int n) {
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) b[i] -= L(i, k) * b[k];
    b[i] /= L(i, i);
  }
}

void backward(double *l, double *b, int n) {
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) b[i] -= L(k, i) * b[k];
    b[i] /= L(i, i);
  }
}

int main(void) {
  int n;
  scanf("%d", &n);
  double *a = malloc(n * n * sizeof(double)), *l = calloc(n * n, sizeof(double)), *b = malloc(n * sizeof(double));
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) scanf("%lf", &A(i, j));
    scanf("%lf", &b[i]);
  }
  factor(a, l, n);
  forward(l, b, n);
  backward(l, b, n);
  for (int i = 0; i < n; i++) printf("%.3lf\n", b[i]);
  free(a);
  free(l);
  free(b);
  return 0;
}
