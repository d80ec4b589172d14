// alias |  | program
static int body(int x) { return BODY(x); }
int hook(int) __attribute__((alias("body")));
extern int value, other;
int value = K;
extern int other __attribute__((alias("value")));
int f(int x) { other = x; return USES(hook, x) + USES(body, value); }
// ----
#include <stdio.h>
int f(int), hook(int);
extern int other, value;
int main(void) { int a = f(K); other++; printf("%d %d %d\n", a, value, hook(value)); return 0; }
