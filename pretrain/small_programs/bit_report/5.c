#include <stdio.h>

/* Clears the lowest set bit until none is left; each cleared bit is set on the other side. */

union word {
  unsigned int all;
  struct {
    unsigned int low : 16;
    unsigned int high : 16;
  } half;
};

static int position(unsigned int single) {
  int p = 0;
  if (single & 0xffff0000u) p += 16;
  if (single & 0xff00ff00u) p += 8;
  if (single & 0xf0f0f0f0u) p += 4;
  if (single & 0xccccccccu) p += 2;
  if (single & 0xaaaaaaaau) p += 1;
  return p;
}

int main(void) {
  union word w;
  while (scanf("%u", &w.all) == 1) {
    unsigned int out = 0;
    int bits = 0, highest = -1;
    if (w.half.high == 0) highest = -1;
    while (w.all) {
      unsigned int lowest = w.all & -w.all;
      highest = position(lowest);
      out |= 1u << (31 - highest);
      w.all &= w.all - 1;
      bits++;
    }
    printf("%d %u %d\n", bits, out, 31 - highest);
  }
  return 0;
}
