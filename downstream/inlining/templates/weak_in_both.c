// weak in both |  | program
#include <stdio.h>
__attribute__((weak)) int hook(int x) { return BODY(x); }
int other(int);
int main(void) { int x = K; printf("%d %d\n", USES(hook, x), other(x)); return 0; }
// ----
__attribute__((weak)) int hook(int x) { return 7 - x; }
int other(int x) { return USES(hook, x); }
