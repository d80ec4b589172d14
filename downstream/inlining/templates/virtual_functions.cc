// virtual functions |  | program
struct Shape { virtual ~Shape(); virtual int area(int x) const { return BODY(x); } };
struct Square : Shape { int area(int x) const override { return x * x + Shape::area(x); } };
Shape::~Shape() {}
Shape *make(int k) { return k % 2 ? new Square : new Shape; }
static int one(int x) { Shape *s = make(x); int a = s->area(x); delete s; return a; }
int f(int x) { return USES(one, x); }
// ----
#include <cstdio>
struct Shape { virtual ~Shape(); virtual int area(int x) const { return BODY(x); } };
struct Odd : Shape { int area(int x) const override { return -x; } };
Shape *make(int k);
int f(int);
int main() { Odd o; Shape *s = make(K), *t = &o; std::printf("%d %d %d %d\n", f(K), s->area(3), t->area(4), dynamic_cast<Odd *>(s) != nullptr); delete s; }
