// unions and bit-fields |  | program
#include <string.h>
struct bits { unsigned a : 3, b : 5; int c : 7; unsigned long d : 40; unsigned : 0; signed char e : 2; };
union view { float f; unsigned u; unsigned char b[4]; };
static int pack(int x) { struct bits s = {0}; s.a = x; s.b = x + 1; s.c = BODY(x); s.d = (unsigned long)x * 123456789u; s.e = x; return s.a + s.b * 2 + s.c * 3 + (int)(s.d % 1009) + s.e; }
static int pun(int x) { union view v; v.f = x / 3.0f; return v.u % 1009 + v.b[1]; }
int f(int x) { return USES(pack, x) + USES(pun, x); }
struct bits give(int x) { struct bits s; memset(&s, 0, sizeof s); s.c = x; s.a = x >> 1; return s; }
// ----
#include <stdio.h>
struct bits { unsigned a : 3, b : 5; int c : 7; unsigned long d : 40; unsigned : 0; signed char e : 2; };
struct bits give(int);
int f(int);
int main(void) { struct bits s = give(K); printf("%d %d %d\n", f(K), s.a, s.c); return 0; }
