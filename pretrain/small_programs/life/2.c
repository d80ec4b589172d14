/* life, one bit a cell, a row is one word; neighbours are added up with full adders on whole rows */
#include <stdint.h>
#include <stdio.h>

static uint64_t row[64], fresh[64];
static int h, w;

static uint64_t left(uint64_t r) { return ((r << 1) | (r >> (w - 1))) & ((1ULL << w) - 1); }
static uint64_t right(uint64_t r) { return (r >> 1) | ((r & 1) << (w - 1)); }

static void add(uint64_t bits, uint64_t *one, uint64_t *two, uint64_t *four) {
  uint64_t c1 = *one & bits;
  *one ^= bits;
  uint64_t c2 = *two & c1;
  *two ^= c1;
  *four |= c2; /* four or more */
}

static void generation(void) {
  for (int i = 0; i < h; i++) {
    uint64_t up = row[(i + h - 1) % h], down = row[(i + 1) % h], me = row[i];
    uint64_t one = 0, two = 0, four = 0;
    add(left(up), &one, &two, &four);
    add(up, &one, &two, &four);
    add(right(up), &one, &two, &four);
    add(left(me), &one, &two, &four);
    add(right(me), &one, &two, &four);
    add(left(down), &one, &two, &four);
    add(down, &one, &two, &four);
    add(right(down), &one, &two, &four);
    fresh[i] = two & ~four & (one | me);
  }
  for (int i = 0; i < h; i++) row[i] = fresh[i];
}

int main(void) {
  int k, total = 0;
  char line[70];
  scanf("%d %d %d", &h, &w, &k);
  for (int i = 0; i < h; i++) {
    scanf("%69s", line);
    for (int j = 0; j < w; j++)
      if (line[j] == '#') row[i] |= 1ULL << j;
  }
  while (k--) generation();
  for (int i = 0; i < h; i++) {
    for (int j = 0; j < w; j++) putchar(row[i] >> j & 1 ? '#' : '.');
    putchar('\n');
    total += __builtin_popcountll(row[i]);
  }
  printf("%d\n", total);
  return 0;
}
