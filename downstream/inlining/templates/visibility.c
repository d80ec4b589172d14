// visibility | -fPIC | library
__attribute__((visibility("hidden"))) int hook(int x) { return BODY(x); }
__attribute__((visibility("protected"))) int guard(int x) { return BODY(x) + 1; }
int f(int x) { return USES(hook, x) + USES(guard, x); }
// ----
#include <stdio.h>
int hook(int x) { return 500 - x; }
int f(int), guard(int);
int main(void) { printf("%d %d %d\n", f(K), hook(K), guard(K)); return 0; }
