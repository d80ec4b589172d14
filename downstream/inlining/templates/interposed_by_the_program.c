// interposed by the program | -fPIC -fsemantic-interposition | library
int hook(int x) { return BODY(x); }
int counter = K;
int f(int x) { counter++; return USES(hook, x) + counter; }
// ----
#include <stdio.h>
int hook(int x) { return 500 - x; }
int counter = 90;
int f(int);
int main(void) { printf("%d %d\n", f(K), counter); return 0; }
