/* n queens with bit masks: columns and both diagonals of the current row */
#include <stdio.h>

static unsigned full;
static int path[20], keep[20], keepn;

static long go(int depth, unsigned cols, unsigned left, unsigned right) {
  if (cols == full) {
    if (!keepn)
      for (keepn = 0; keepn < depth; keepn++) keep[keepn] = path[keepn];
    return 1;
  }
  long sum = 0;
  unsigned open = full & ~(cols | left | right);
  while (open) {
    unsigned bit = open & -open;
    open -= bit;
    path[depth] = __builtin_ctz(bit) + 1;
    sum += go(depth + 1, cols | bit, (left | bit) << 1, (right | bit) >> 1);
  }
  return sum;
}

int main(void) {
  int n;
  while (scanf("%d", &n) == 1) {
    full = (1u << n) - 1;
    keepn = 0;
    printf("%ld:", go(0, 0, 0, 0));
    for (int i = 0; i < keepn; i++) printf(" %d", keep[i]);
    printf("\n");
  }
  return 0;
}
