// exceptions that end the program |  | program
static int risky(int x) { if (x > 2 + K) throw x; return BODY(x); }
int f(int x) noexcept { return USES(risky, x); }
// ----
#include <cstdio>
#include <cstdlib>
#include <exception>
int f(int) noexcept;
int main() { std::set_terminate([] { std::puts("ended"); std::fflush(stdout); std::_Exit(40 + K); }); for (int x = 0; x < 9; x++) std::printf("%d\n", f(x)); }
