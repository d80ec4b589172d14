/* fenwick tree */
#include <stdio.h>
#include <string.h>

#define N 100005

long long bit[N];
int v[N], n;

void upd(int i, long long d) {
  for (; i <= n; i += i & -i) bit[i] += d;
}

long long get(int i) {
  long long r = 0;
  for (; i; i -= i & -i) r += bit[i];
  return r;
}

int main() {
  int i, q, a, b;
  char cmd[10];
  scanf("%d", &n);
  for (i = 1; i <= n; i++) {
    scanf("%d", &v[i]);
    upd(i, v[i]);
  }
  scanf("%d", &q);
  while (q--) {
    scanf("%s%d%d", cmd, &a, &b);
    if (!strcmp(cmd, "set")) {
      upd(a, b - v[a]);
      v[a] = b;
    } else {
      printf("%lld\n", get(b) - get(a - 1));
    }
  }
  return 0;
}
