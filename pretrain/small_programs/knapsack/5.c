#include <stdio.h>
#include <stdlib.h>

/* Meet in the middle: all subsets of each half by bit masks, then one pass over two sorted lists. */

typedef struct { long w, v; } load;

static int cmp(const void *a, const void *b) {
  const load *x = a, *y = b;
  if (x->w != y->w) return x->w < y->w ? -1 : 1;
  return x->v > y->v ? -1 : x->v < y->v;
}

static load *subsets(const load *item, int n) {
  load *all = calloc((size_t)1 << n, sizeof(load));
  for (unsigned mask = 0; mask < 1u << n; mask++)
    for (int bit = 0; bit < n; bit++)
      if (mask >> bit & 1) {
        all[mask].w += item[bit].w;
        all[mask].v += item[bit].v;
      }
  qsort(all, (size_t)1 << n, sizeof(load), cmp);
  return all;
}

int main(void) {
  int n;
  long cap, bestV = 0, bestW = 0;
  load item[40];
  scanf("%d %ld", &n, &cap);
  for (int i = 0; i < n; i++) scanf("%ld %ld", &item[i].w, &item[i].v);

  int h = n / 2;
  long na = 1L << h, nb = 1L << (n - h);
  load *a = subsets(item, h), *b = subsets(item + h, n - h);
  /* b[j] becomes the best of b[0..j] */
  for (long j = 1; j < nb; j++)
    if (b[j].v <= b[j - 1].v) b[j] = b[j - 1];
  long j = nb - 1;
  long *limit = malloc(sizeof(long) * nb);
  for (long k = 0; k < nb; k++) limit[k] = b[k].w;
  for (long i = 0; i < na && a[i].w <= cap; i++) {
    while (j > 0 && limit[j] + a[i].w > cap) j--;
    long v = a[i].v + b[j].v, w = a[i].w + b[j].w;
    if (v > bestV || (v == bestV && w < bestW)) { bestV = v; bestW = w; }
  }
  printf("%ld %ld\n", bestV, bestW);
  free(limit);
  free(a);
  free(b);
  return 0;
}
