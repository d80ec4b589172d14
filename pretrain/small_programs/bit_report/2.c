/* the well-known masks */
#include <stdio.h>

typedef unsigned int u32;

#define M1 0x55555555u
#define M2 0x33333333u
#define M4 0x0f0f0f0fu
#define M8 0x00ff00ffu

u32 pop(u32 v) {
  v = v - ((v >> 1) & M1);
  v = (v & M2) + ((v >> 2) & M2);
  v = (v + (v >> 4)) & M4;
  return (v * 0x01010101u) >> 24;
}

u32 rev(u32 v) {
  v = ((v >> 1) & M1) | ((v & M1) << 1);
  v = ((v >> 2) & M2) | ((v & M2) << 2);
  v = ((v >> 4) & M4) | ((v & M4) << 4);
  v = ((v >> 8) & M8) | ((v & M8) << 8);
  return (v >> 16) | (v << 16);
}

/* fill everything below the top bit with ones */
u32 smear(u32 v) {
  v |= v >> 1;
  v |= v >> 2;
  v |= v >> 4;
  v |= v >> 8;
  v |= v >> 16;
  return v;
}

int main(void) {
  u32 v;
  while (scanf("%u", &v) == 1) printf("%u %u %u\n", pop(v), rev(v), 32 - pop(smear(v)));
  return 0;
}
