// recursion |  | program
int far(int, int);
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int ack(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1)); }
static int ping(int n);
static int pong(int n) { return n <= 0 ? BODY(n) : ping(n - 1) + 1; }
static int ping(int n) { return n <= 0 ? K : pong(n - 2) * 2 % 10007; }
int near(int n, int s) { return n <= 0 ? s : far(n - 1, s + ping(n)); }
static int all(int x) { return fib(x + 8) + ack(2, x & 3) + ping(x + 20); }
int f(int x) { return USES(all, x); }
// ----
#include <stdio.h>
int near(int, int), f(int);
int far(int n, int s) { return n <= 0 ? s * 2 : near(n - 2, s + 1); }
int main(void) { printf("%d %d\n", near(30, K), f(K)); return 0; }
