// tail calls |  | program
int odd(int);
static int step(int n) { return BODY(n) & 1; }
int even(int n) { if (n <= 0) return step(n) + 10; return odd(n - 1); }
static int down(int n, int sum) { if (n == 0) return sum; __attribute__((musttail)) return down(n - 1, sum + step(n)); }
static int deep(int x) { return down(1000000 + x, K); }
int f(int x) { return USES(deep, x); }
// ----
#include <stdio.h>
int even(int), f(int);
int odd(int n) { if (n <= 0) return 20; return even(n - 1); }
int main(void) { printf("%d %d %d\n", even(1001), odd(600), f(K)); return 0; }
