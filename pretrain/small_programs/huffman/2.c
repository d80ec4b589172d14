/* two queues: letters sorted by count, and sums, which come out in order by themselves */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int leaf[256], nleaf, ileaf;
int sum[256], nsum, isum;

int cmp(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int take(void) {
  if (ileaf == nleaf) return sum[isum++];
  if (isum == nsum) return leaf[ileaf++];
  return leaf[ileaf] <= sum[isum] ? leaf[ileaf++] : sum[isum++];
}

int left(void) { return nleaf - ileaf + nsum - isum; }

int main(void) {
  char s[2048];
  int i, total;
  while (fgets(s, sizeof s, stdin)) {
    int cnt[256];
    memset(cnt, 0, sizeof cnt);
    for (i = 0; s[i] && s[i] != '\n'; i++) cnt[(unsigned char)s[i]]++;
    nleaf = ileaf = nsum = isum = 0;
    for (i = 0; i < 256; i++)
      if (cnt[i]) leaf[nleaf++] = cnt[i];
    qsort(leaf, nleaf, sizeof(int), cmp);
    total = nleaf == 1 ? leaf[0] : 0;
    while (left() > 1) {
      int a = take();
      int b = take();
      sum[nsum++] = a + b;
      total += a + b;
    }
    printf("%d %d\n", nleaf, total);
  }
  return 0;
}
