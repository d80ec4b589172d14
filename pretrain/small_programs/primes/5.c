#include <stdio.h>
#include <string.h>

/* Sieve of Sundaram: i + j + 2ij is left out, and 2k + 1 of what stays is prime. One bit a number. */

#define HALF 60000

static unsigned char bits[HALF / 8 + 1];

#define MARK(k) (bits[(k) >> 3] |= (unsigned char)(1u << ((k)&7)))
#define MARKED(k) (bits[(k) >> 3] >> ((k)&7) & 1)

static void sundaram(int last) {
  memset(bits, 0, sizeof bits);
  for (int i = 1; 2 * i * (i + 1) <= last; i++)
    for (int k = 2 * i * (i + 1); k <= last; k += 2 * i + 1) MARK(k);
}

struct summary {
  int n, gap, last;
  long total;
};

static void note(struct summary *s, int p) {
  if (s->n++ > 0 && p - s->last > s->gap) s->gap = p - s->last;
  s->last = p;
  s->total += p;
}

int main(void) {
  int lo, hi;
  while (scanf("%d %d", &lo, &hi) == 2) {
    struct summary s = {0, 0, 0, 0};
    sundaram(hi / 2);
    if (lo <= 2 && 2 <= hi) note(&s, 2);
    for (int k = 1; 2 * k + 1 <= hi; k++)
      if (2 * k + 1 >= lo && !MARKED(k)) note(&s, 2 * k + 1);
    printf("%d %ld %d\n", s.n, s.total, s.gap);
  }
  return 0;
}
