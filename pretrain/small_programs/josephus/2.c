/*
 * An array, and the tail moves down when somebody leaves. The place of the next one follows by arithmetic:
 * after somebody at place p has left, the one behind has place p, so k - 1 steps are left to do.
 */
#include <stdio.h>
#include <string.h>

int main(void) {
  int who[1000];
  int n, k, i, at;

  while (scanf("%d%d", &n, &k) == 2) {
    for (i = 0; i < n; i++) who[i] = i + 1;
    at = 0;
    while (n > 0) {
      at = (at + k - 1) % n;
      printf("%d", who[at]);
      n--;
      memmove(who + at, who + at + 1, (n - at) * sizeof(int));
      if (n > 0) printf(" ");
    }
    printf("\n");
  }
  return 0;
}
