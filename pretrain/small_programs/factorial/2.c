#include <stdio.h>
#include <stdlib.h>

/* a number is a linked list of digit groups, low group first */

typedef struct group {
  unsigned int value; /* below 10000 */
  struct group *higher;
} group;

group *new_group(unsigned int v) {
  group *g = malloc(sizeof(group));
  g->value = v;
  g->higher = NULL;
  return g;
}

void times(group *g, unsigned int k) {
  unsigned int carry = 0;
  for (;;) {
    unsigned int x = g->value * k + carry;
    g->value = x % 10000;
    carry = x / 10000;
    if (g->higher == NULL) break;
    g = g->higher;
  }
  if (carry) g->higher = new_group(carry);
}

void show(group *g, unsigned int *sum) {
  unsigned int v;
  if (g->higher) {
    show(g->higher, sum);
    printf("%04u", g->value);
  } else {
    printf("%u", g->value);
  }
  for (v = g->value; v; v /= 10) *sum += v % 10;
}

void throw_away(group *g) {
  while (g) {
    group *h = g->higher;
    free(g);
    g = h;
  }
}

int main(void) {
  unsigned int n, k, sum;
  while (scanf("%u", &n) == 1) {
    group *f = new_group(1);
    for (k = n; k > 1; k--) times(f, k);
    sum = 0;
    show(f, &sum);
    printf(" %u\n", sum);
    throw_away(f);
  }
  return 0;
}
