/* heapsort on a plain global array */
#include <stdio.h>

#define MAXN 2000

int a[MAXN];
int n;

void sift(int root, int end) {
  int kid, tmp;
  while ((kid = 2 * root + 1) < end) {
    if (kid + 1 < end && a[kid + 1] > a[kid]) kid++;
    if (a[root] >= a[kid]) break;
    tmp = a[root];
    a[root] = a[kid];
    a[kid] = tmp;
    root = kid;
  }
}

int main() {
  int i, t;
  scanf("%d", &n);
  for (i = 0; i < n; i++) scanf("%d", a + i);

  for (i = n / 2 - 1; i >= 0; i--) sift(i, n);
  for (i = n - 1; i > 0; i--) {
    t = a[0];
    a[0] = a[i];
    a[i] = t;
    sift(0, i);
  }

  for (i = 0; i < n; i++) printf("%d ", a[i]);
  puts("");
  return 0;
}
