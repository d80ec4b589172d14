// exceptions |  | program
#include <cstdio>
struct Base { int code; Base(int c) : code(c) {} virtual ~Base() {} };
struct Derived : Base { Derived(int c) : Base(c + 10) {} };
struct Guard { int n; ~Guard() { std::printf("guard %d\n", n); } };
static int risky(int x) { Guard g{x}; if (x % 3 == 0) throw Base(x); if (x % 5 == 4) throw Derived(x); return BODY(x); }
int f(int x) { Guard g{100 + x}; try { return USES(risky, x); } catch (Derived &d) { std::printf("derived %d\n", d.code); throw; } }
// ----
#include <cstdio>
struct Base { int code; Base(int c) : code(c) {} virtual ~Base() {} };
int f(int);
int main() { for (int x = 0; x < 12; x++) try { std::printf("%d\n", f(x)); } catch (Base &b) { std::printf("caught %d\n", b.code); } return K; }
