// variable arguments |  | program
#include <stdarg.h>
#include <stdio.h>
static int sum(int n, ...) { va_list a, b; va_start(a, n); va_copy(b, a); int s = 0; while (n-- > 0) s += va_arg(a, int) + (int)va_arg(b, int); va_end(a); va_end(b); return s; }
static int mixed(const char *how, ...) { va_list a; va_start(a, how); double s = 0; for (; *how; how++) s += *how == 'd' ? va_arg(a, double) : *how == 'l' ? va_arg(a, long) : va_arg(a, int); va_end(a); return (int)s; }
static int one(int x) { return sum(3, x, BODY(x), K) + mixed("idl", x, x / 2.0, (long)x << 3); }
int f(int x) { return USES(one, x); }
int say(char *to, const char *how, ...) { va_list a; va_start(a, how); int n = vsnprintf(to, 40, how, a); va_end(a); return n; }
// ----
#include <stdio.h>
int f(int), say(char *, const char *, ...);
int main(void) { char to[40]; int n = say(to, "%d %s %.2f", K, "text", K / 4.0); printf("%d %s %d\n", n, to, f(K)); return 0; }
