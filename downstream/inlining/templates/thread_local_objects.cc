// thread-local objects | -pthread -fPIC | program
#include <cstdio>
struct T { int n; T() : n(K) { std::printf("T\n"); } ~T() { std::printf("~T %d\n", n); } };
thread_local T object;
static int add(int x) { return object.n += BODY(x); }
int f(int x) { return USES(add, x); }
// ----
#include <cstdio>
#include <thread>
int f(int);
int main() { int a = f(1), b = 0; std::thread([&] { b = f(2); }).join(); std::printf("%d %d\n", a, b); }
