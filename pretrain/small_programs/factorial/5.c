#include <stdio.h>
#include <string.h>

/* n! by its prime powers: the exponent of p is n/p + n/p^2 + ... */

#define SIZE 1024

static unsigned long part[SIZE];
static int parts;

static int is_prime(int p) {
  for (int d = 2; d * d <= p; d++)
    if (p % d == 0) return 0;
  return p > 1;
}

static int exponent(int n, int p) { return n < p ? 0 : n / p + exponent(n / p, p); }

static void mul(unsigned long by) {
  unsigned long c = 0;
  for (unsigned long *q = part; q < part + parts; q++) {
    *q = *q * by + c;
    c = *q / 1000000;
    *q %= 1000000;
  }
  if (c) part[parts++] = c;
}

static int digit_sum(unsigned long v) { return v ? (int)(v % 10) + digit_sum(v / 10) : 0; }

int main(void) {
  int n;
  while (scanf("%d", &n) > 0) {
    memset(part, 0, sizeof part);
    part[0] = 1;
    parts = 1;
    for (int p = 2; p <= n; p++) {
      if (!is_prime(p)) continue;
      for (int e = exponent(n, p); e > 0; e--) mul(p);
    }
    int s = digit_sum(part[parts - 1]);
    printf("%lu", part[parts - 1]);
    for (int i = parts - 2; i >= 0; i--) {
      printf("%06lu", part[i]);
      s += digit_sum(part[i]);
    }
    printf(" %d\n", s);
  }
  return 0;
}
