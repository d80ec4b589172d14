/* two rows are enough */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int lcs(char *s, char *t) {
  int n = strlen(s), m = strlen(t), i, j, ret;
  int *prev = calloc(m + 1, sizeof(int));
  int *cur = calloc(m + 1, sizeof(int));
  int *tmp;
  for (i = 0; i < n; i++) {
    for (j = 0; j < m; j++) {
      if (s[i] == t[j])
        cur[j + 1] = prev[j] + 1;
      else if (cur[j] > prev[j + 1])
        cur[j + 1] = cur[j];
      else
        cur[j + 1] = prev[j + 1];
    }
    tmp = prev;
    prev = cur;
    cur = tmp;
  }
  ret = prev[m];
  free(prev);
  free(cur);
  return ret;
}

int main() {
  char s[2000], t[2000];
  while (scanf("%s %s", s, t) == 2) {
    int k = lcs(s, t);
    printf("%d %d\n", k, (int)strlen(s) - k + (int)strlen(t) - k);
  }
  return 0;
}
