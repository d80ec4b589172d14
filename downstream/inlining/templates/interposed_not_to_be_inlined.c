// interposed, not to be inlined | -fPIC | preload
__attribute__((noinline)) int hook(int x) { return BODY(x); }
static int more(int x) { return hook(x) + 1; }
int f(int x) { return USES(more, x); }
// ----
#include <stdio.h>
int f(int);
int main(void) { printf("%d\n", f(K)); return 0; }
