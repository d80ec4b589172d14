#include <stdio.h>
#include <string.h>

/* Knuth, Morris and Pratt. */

char p[1024], t[16384];
int fail[1024];

void prepare(int m) {
  int i, k = 0;
  fail[0] = 0;
  for (i = 1; i < m; i++) {
    while (k > 0 && p[i] != p[k]) k = fail[k - 1];
    if (p[i] == p[k]) k++;
    fail[i] = k;
  }
}

int main() {
  int i, k = 0, hits = 0, where = -1;
  scanf("%s%s", p, t);
  int m = strlen(p), n = strlen(t);
  prepare(m);
  for (i = 0; i < n; i++) {
    while (k > 0 && t[i] != p[k]) k = fail[k - 1];
    if (t[i] == p[k]) k++;
    if (k == m) {
      if (!hits++) where = i - m + 1;
      k = fail[k - 1];
    }
  }
  printf("%d %d\n", hits, where);
  return 0;
}
