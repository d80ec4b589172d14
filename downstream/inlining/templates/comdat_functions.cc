// comdat functions |  | program
#include <cstdio>
inline int shared(int x) { static int n = K; return BODY(x) + ++n; }
struct S { int v = K; int get(int x) { return v += shared(x); } };
int f(int x) { S s; return USES(shared, x) + USES(s.get, x); }
// ----
#include <cstdio>
inline int shared(int x) { static int n = K; return BODY(x) + ++n; }
int f(int);
int main() { int x = K; int a = f(x); std::printf("%d %d\n", a, USES(shared, x)); }
