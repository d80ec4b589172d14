// stack arrays | -fwrapv | program
#include <alloca.h>
#include <string.h>
int sum(const int *, int);
static int local(int n) { int list[n + 1]; for (int i = 0; i <= n; i++) list[i] = BODY(i); return sum(list, n + 1); }
static int taken(int n) { int *p = alloca((n + 2) * sizeof *p); memset(p, 1, (n + 2) * sizeof *p); return sum(p, n + 2); }
static int kept(int n) { int s = 0; for (int i = 0; i < 2000; i++) s += local(n & 15) ^ taken(n & 15); return s; }
int f(int x) { return USES(kept, x); }
// ----
#include <stdio.h>
int sum(const int *p, int n) { int s = 0; while (n--) s = s * 3 + p[n]; return s; }
int f(int);
int main(void) { printf("%d\n", f(K)); return 0; }
