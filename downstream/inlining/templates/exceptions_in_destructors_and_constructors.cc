// exceptions in destructors and constructors |  | program
#include <cstdio>
struct Part { int n; Part(int m) : n(m) { if (m % 4 == 3) throw m; std::printf("+%d\n", n); } ~Part() { std::printf("-%d\n", n); } };
struct Whole { Part a, b; Whole(int x) try : a(x), b(BODY(x) & 7) {} catch (int m) { throw m + K; } };
static int build(int x) { Whole w(x); return w.a.n + w.b.n; }
int f(int x) { return USES(build, x); }
// ----
#include <cstdio>
int f(int);
int main() { for (int x = 0; x < 6; x++) try { std::printf("%d\n", f(x)); } catch (int m) { std::printf("caught %d\n", m); } }
