// own library functions | -fno-builtin | program
static unsigned long strlen(const char *s) { unsigned long n = 0; while (s[n]) n++; return n + K; }
static int abs(int x) { return x < 0 ? -x + 1 : x; }
static int one(int x) { return abs(-x) + (int)strlen("four") + abs(BODY(x)); }
int f(int x) { return USES(one, x); }
// ----
#include <stdio.h>
int f(int);
int main(void) { printf("%d\n", f(K)); return 0; }
