// weak alias |  | program
int body(int x) { return BODY(x); }
int hook(int) __attribute__((weak, alias("body")));
int f(int x) { return USES(hook, x) + body(x); }
// ----
#include <stdio.h>
int hook(int x) { return 40 + x; }
int f(int), body(int);
int main(void) { printf("%d %d\n", f(K), body(K)); return 0; }
