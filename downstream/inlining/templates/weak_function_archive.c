// weak function, archive |  | archive
#include <stdio.h>
__attribute__((weak)) int hook(int x) { return BODY(x); }
int pulled(int);
int main(void) { int x = K; printf("%d %d\n", USES(hook, x), K % 2 ? pulled(x) : 0); return 0; }
// ----
int hook(int x) { return 100 - x; }
int pulled(int x) { return USES(hook, x); }
