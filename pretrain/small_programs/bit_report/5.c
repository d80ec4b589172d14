#include <stdio.h>

/* Clears the lowest set bit until none is left; each cleared bit is set on the other side. */

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
  unsigned int word;
  while (scanf("%u", &word) == 1) {
    unsigned int out = 0;
    int bits = 0, highest = -1;
      while (word) {
      unsigned int lowest = word & -word;
      highest = position(lowest);
      out |= 1u << (31 - highest);
      word &= word - 1;
      bits++;
    }
    printf("%d %u %d\n", bits, out, 31 - highest);
  }
  return 0;
}
