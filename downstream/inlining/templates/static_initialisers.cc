// static initialisers |  | program
#include <cstdio>
struct A { int n; A(int m) : n(BODY(m)) { std::printf("A %d\n", m); } ~A() { std::printf("~A %d\n", n); } };
A first(1), second(K);
__attribute__((init_priority(300))) A early(7);
int &counted() { static A a(50); return a.n; }
static int next(int x) { return counted() += x; }
int f(int x) { return USES(next, x) + first.n + early.n; }
// ----
#include <cstdio>
int f(int), &counted();
struct B { B(int m) { std::printf("B %d %d\n", m, f(m)); } };
__attribute__((init_priority(200))) static struct C { C() { std::printf("C\n"); } } c;
B b(K);
int main() { std::printf("main %d\n", counted()); }
