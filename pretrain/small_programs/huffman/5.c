#include <stdio.h>
#include <stdlib.h>

/* Code lengths in place, in the sorted array itself (Moffat and Katajainen's way). */

static int ascending(const void *x, const void *y) {
  long a = *(const long *)x, b = *(const long *)y;
  return (a > b) - (a < b);
}

static void code_lengths(long *w, int n) {
  int root = 0, leaf = 2, next;
  w[0] += w[1];
  for (next = 1; next < n - 1; next++) {
    if (leaf >= n || w[root] < w[leaf]) {
      w[next] = w[root];
      w[root++] = next;
    } else {
      w[next] = w[leaf++];
    }
    if (leaf >= n || (root < next && w[root] < w[leaf])) {
      w[next] += w[root];
      w[root++] = next;
    } else {
      w[next] += w[leaf++];
    }
  }
  w[n - 2] = 0;
  for (next = n - 3; next >= 0; next--) w[next] = w[w[next]] + 1;
  int avail = 1, used = 0, depth = 0;
  root = n - 2;
  next = n - 1;
  while (avail > 0) {
    while (root >= 0 && w[root] == depth) {
      used++;
      root--;
    }
    while (avail > used) {
      w[next--] = depth;
      avail--;
    }
    avail = 2 * used;
    depth++;
    used = 0;
  }
}

int main(void) {
  char line[1500];
  while (fgets(line, sizeof line, stdin)) {
    long tally[256] = {0}, weights[256], lengths[256], total = 0;
    int n = 0;
    for (unsigned char *p = (unsigned char *)line; *p && *p != '\n'; p++) tally[*p]++;
    for (int c = 0; c < 256; c++)
      if (tally[c]) weights[n++] = tally[c];
    qsort(weights, n, sizeof(long), ascending);
    for (int i = 0; i < n; i++) lengths[i] = weights[i];
    if (n > 1) code_lengths(lengths, n);
    else lengths[0] = 1;
    for (int i = 0; i < n; i++) total += lengths[i] * weights[i];
    printf("%d %ld\n", n, total);
  }
  return 0;
}
