#include <stdio.h>
#include <string.h>

/* Greedy along diagonals: how far can one get with 0, 1, 2 ... edits? The first number of edits that reaches the end. */

#define OFFSET 2100

static int reach[2 * OFFSET];

static int snake(const char *a, const char *b, int n, int m, int x, int y) {
  while (x < n && y < m && a[x] == b[y]) {
    x++;
    y++;
  }
  return x;
}

static int edits(const char *a, const char *b) {
  int n = (int)strlen(a), m = (int)strlen(b);
  memset(reach, 0, sizeof reach);
  for (int d = 0; d <= n + m; d++) {
    for (int k = -d; k <= d; k += 2) {
      int *here = &reach[OFFSET + k];
      int x;
      if (k == -d || (k != d && here[-1] < here[1]))
        x = here[1];
      else
        x = here[-1] + 1;
      int y = x - k;
      if (x <= n && y <= m) x = snake(a, b, n, m, x, y);
      *here = x;
      if (x >= n && x - k >= m) return d;
    }
  }
  return n + m;
}

int main(void) {
  char a[1001], b[1001];
  while (scanf("%1000s %1000s", a, b) == 2) {
    int d = edits(a, b);
    printf("%d %d\n", ((int)strlen(a) + (int)strlen(b) - d) / 2, d);
  }
  return 0;
}
