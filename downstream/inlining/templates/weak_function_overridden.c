// weak function overridden |  | program
__attribute__((weak)) int hook(int x) { return BODY(x); }
int f(int x) { return USES(hook, x); }
// ----
#include <stdio.h>
int hook(int x) { return 100 + K * x; }
int f(int);
int main(void) { printf("%d %d\n", f(K), f(-K)); return K; }
