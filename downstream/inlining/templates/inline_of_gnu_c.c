// inline of GNU C | -fgnu89-inline | program
extern inline int seen(int x) { return BODY(x); }
__attribute__((always_inline)) static inline int must(int x) { return seen(x) + K; }
int f(int x) { return USES(seen, x) + USES(must, x); }
// ----
#include <stdio.h>
int seen(int x) { return BODY(x); }
int f(int);
int main(void) { printf("%d\n", f(K)); return 0; }
