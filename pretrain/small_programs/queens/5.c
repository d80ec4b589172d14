#include <stdio.h>

/* Free columns as a linked ring: taking a column out and putting it back costs a constant. */

typedef struct Column {
  struct Column *prev, *next;
  int number;
} Column;

static Column ring[20];
static char up[64], down[64];
static int chosen[20], example[20];
static long found;

static void detach(Column *c) {
  c->prev->next = c->next;
  c->next->prev = c->prev;
}

static void attach(Column *c) {
  c->prev->next = c;
  c->next->prev = c;
}

static void search(int row, int n) {
  if (row > n) {
    if (found++ == 0)
      for (int i = 1; i <= n; i++) example[i] = chosen[i];
    return;
  }
  for (Column *c = ring[0].next; c != &ring[0]; c = c->next) {
    int k = c->number;
    if (up[row + k] || down[row - k + n]) continue;
    up[row + k] = down[row - k + n] = 1;
    chosen[row] = k;
    detach(c);
    search(row + 1, n);
    attach(c);
    up[row + k] = down[row - k + n] = 0;
  }
}

int main(void) {
  int n;
  while (scanf("%d", &n) == 1) {
    for (int i = 0; i <= n; i++) {
      ring[i].number = i;
      ring[i].next = &ring[(i + 1) % (n + 1)];
      ring[i].prev = &ring[(i + n) % (n + 1)];
    }
    found = 0;
    search(1, n);
    printf("%ld:", found);
    if (found)
      for (int i = 1; i <= n; i++) printf(" %d", example[i]);
    printf("\n");
  }
  return 0;
}
