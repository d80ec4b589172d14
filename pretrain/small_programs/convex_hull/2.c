/* gift wrapping */
#include <stdio.h>

int x[500], y[500];
int n;

long turn(int a, int b, int c) {
  return (long)(x[b] - x[a]) * (y[c] - y[a]) - (long)(y[b] - y[a]) * (x[c] - x[a]);
}

long dist2(int a, int b) {
  long dx = x[a] - x[b], dy = y[a] - y[b];
  return dx * dx + dy * dy;
}

int leftmost(void) {
  int i, l = 0;
  for (i = 1; i < n; i++)
    if (x[i] < x[l] || (x[i] == x[l] && y[i] < y[l])) l = i;
  return l;
}

int main() {
  int i, start, cur, next, corners = 0;
  long area2 = 0, t;
  scanf("%d", &n);
  for (i = 0; i < n; i++) scanf("%d%d", &x[i], &y[i]);

  start = cur = leftmost();
  do {
    corners++;
    next = (cur + 1) % n;
    for (i = 0; i < n; i++) {
      t = turn(cur, next, i);
      if (t < 0 || (t == 0 && dist2(cur, i) > dist2(cur, next))) next = i;
    }
    area2 += (long)x[cur] * y[next] - (long)y[cur] * x[next];
    cur = next;
  } while (cur != start);
  printf("%d %ld\n", corners, area2);
  return 0;
}
