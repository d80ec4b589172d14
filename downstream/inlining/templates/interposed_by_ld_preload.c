// interposed by LD_PRELOAD | -fPIC -fsemantic-interposition | preload
int hook(int x) { return BODY(x); }
int f(int x) { return USES(hook, x); }
// ----
#include <stdio.h>
int f(int), hook(int);
int main(void) { printf("%d %d\n", f(K), hook(K)); return 0; }
