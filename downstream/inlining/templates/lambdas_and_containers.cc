// lambdas and containers | -fwrapv | program
#include <algorithm>
#include <functional>
#include <string>
#include <vector>
static std::vector<int> numbers(int n) { std::vector<int> v; for (int i = 0; i < n; i++) v.push_back(BODY(i) % 100); return v; }
int f(int x, const std::function<int(int)> &g) { auto v = numbers(x + 9); std::sort(v.begin(), v.end(), [](int a, int b) { return a > b; }); int s = 0; for (int i : v) s = s * 3 + g(i); return s; }
std::string name(int x) { std::string s; for (int i = 0; i < x; i++) s += "ab" + std::to_string(i * K); return s; }
// ----
#include <cstdio>
#include <functional>
#include <string>
int f(int, const std::function<int(int)> &);
std::string name(int);
int main() { int k = K; std::printf("%d %s\n", f(K, [k](int x) { return x + k; }), name(K + 3).c_str()); }
