#include <stdio.h>

/* No ring at all: who leaves as number m of n with step k follows from n - 1 people by recursion. */

static int leaves(int n, int k, int m) {
  if (m == 1) return (k - 1) % n;
  return (leaves(n - 1, k, m - 1) + k) % n;
}

static void announce(int n, int k, int m) {
  if (m > n) {
    putchar('\n');
    return;
  }
  if (m > 1) putchar(' ');
  printf("%d", leaves(n, k, m) + 1);
  announce(n, k, m + 1);
}

int main(int argc, char **argv) {
  int n, k;
  (void)argc;
  (void)argv;
  for (;;) {
    if (scanf("%d", &n) != 1) break;
    if (scanf("%d", &k) != 1) break;
    announce(n, k, 1);
  }
  return 0;
}
