// cleanups | -fexceptions | program
#include <stdio.h>
static void drop(int *p) { printf("drop %d\n", *p); }
static int held(int x) { __attribute__((cleanup(drop))) int n = BODY(x); __attribute__((cleanup(drop))) int m = x; return n + m; }
int f(int x) { return USES(held, x); }
// ----
#include <stdio.h>
int f(int);
int main(void) { printf("%d\n", f(K)); return 0; }
