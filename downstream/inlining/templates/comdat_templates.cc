// comdat templates |  | program
template <int N> struct Power { static int seen; static int of(int x) { return ++seen + x * Power<N - 1>::of(x) % 1009; } };
template <> struct Power<0> { static int of(int x) { return BODY(x) % 97; } };
template <int N> int Power<N>::seen = N;
int f(int x) { return USES(Power<4>::of, x) + Power<2>::seen; }
// ----
#include <cstdio>
template <int N> struct Power { static int seen; static int of(int x) { return ++seen + x * Power<N - 1>::of(x) % 1009; } };
template <> struct Power<0> { static int of(int x) { return BODY(x) % 97; } };
template <int N> int Power<N>::seen = N;
int f(int);
int main() { int x = K; int a = f(x); std::printf("%d %d %d\n", a, Power<3>::of(x), Power<4>::seen); }
