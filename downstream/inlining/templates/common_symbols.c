// common symbols | -fcommon | program
int shared, list[4];
static int next(int x) { shared += BODY(x); return list[shared & 3]; }
int f(int x) { return USES(next, x); }
// ----
#include <stdio.h>
int shared, list[4] = {1, 2, 3, K};
int f(int);
int main(void) { int a = f(K); printf("%d %d\n", a, shared); return 0; }
