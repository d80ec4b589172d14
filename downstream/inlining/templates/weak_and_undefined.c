// weak and undefined |  | program
extern int maybe(int) __attribute__((weak));
static int ask(int x) { return maybe ? maybe(x) : BODY(x); }
int f(int x) { return USES(ask, x); }
// ----
#include <stdio.h>
#if K % 2
int maybe(int x) { return x + 77; }
#endif
int f(int);
int main(void) { printf("%d\n", f(K)); return 0; }
