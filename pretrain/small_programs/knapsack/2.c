/* knapsack with one row, filled from the right */
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int n, w, c, v, i, j;

  if (scanf("%d%d", &n, &c) != 2) return 1;
  int *dp = calloc(c + 1, sizeof(int));
  for (i = 0; i < n; i++) {
    scanf("%d%d", &w, &v);
    for (j = c; j >= w; j--) {
      int with = dp[j - w] + v;
      if (with > dp[j]) dp[j] = with;
    }
  }

  /* binary search for the lightest load of that value: dp never falls */
  int lo = 0, hi = c;
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (dp[mid] < dp[c])
      lo = mid + 1;
    else
      hi = mid;
  }
  printf("%d %d\n", dp[c], lo);
  free(dp);
  return 0;
}
