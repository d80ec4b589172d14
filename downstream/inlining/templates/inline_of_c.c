// inline of C |  | program
inline int twice(int x) { return BODY(x) * 2; }
static inline int own(int x) { static int calls; return twice(x) + ++calls; }
int f(int x) { return USES(twice, x) + USES(own, x); }
// ----
#include <stdio.h>
inline int twice(int x) { return BODY(x) * 2; }
extern inline int twice(int x);
int f(int);
int main(void) { printf("%d %d\n", f(K), twice(K)); return 0; }
