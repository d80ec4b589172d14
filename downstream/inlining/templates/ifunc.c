// ifunc |  | program
static int slow(int x) { return BODY(x); }
static int fast(int x) { return x + 9; }
static int (*resolve(void))(int) { return K % 2 ? slow : fast; }
int hook(int) __attribute__((ifunc("resolve")));
int f(int x) { return USES(hook, x) + USES(slow, x); }
// ----
#include <stdio.h>
int f(int), hook(int);
int main(void) { printf("%d %d\n", f(K), hook(1)); return 0; }
