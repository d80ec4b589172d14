// coroutines | -std=c++20 | program
#include "generator.h"
Numbers count(int n) { Guard g; for (int i = 0; i < n; i++) co_yield BODY(i); }
static int sum(int n) { int s = 0; Numbers c = count(n); while (c.next()) s = s * 3 + c.value(); return s; }
int f(int x) { return USES(sum, x); }
// ----
#include "generator.h"
Numbers count(int);
int f(int);
int main() { Numbers c = count(K); while (c.next()) std::printf("%d\n", c.value()); std::printf("%d\n", f(K)); }
