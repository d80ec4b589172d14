// null as an address | -fno-delete-null-pointer-checks | program
static int look(int *p) { int *q = p + 0; return q ? *q : -K; }
static int first(int x) { int n = BODY(x); return look(x % 2 ? &n : 0); }
int f(int x) { return USES(first, x); }
// ----
#include <stdio.h>
int f(int);
int main(void) { printf("%d %d\n", f(K), f(K + 1)); return 0; }
