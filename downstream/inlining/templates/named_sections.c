// named sections |  | program
typedef int (*step)(int);
__attribute__((section("steps"), used)) static const step here[2] = {0, 0};
__attribute__((section(".text.special"))) static int special(int x) { return BODY(x); }
static int plain(int x) { return x + K; }
__attribute__((section("steps"), used)) static const step mine = special, mine2 = plain;
int f(int x) { return USES(special, x) + USES(plain, x); }
// ----
#include <stdio.h>
typedef int (*step)(int);
extern const step __start_steps[], __stop_steps[];
static int own(int x) { return x * 2; }
__attribute__((section("steps"), used)) static const step added = own;
int f(int);
int main(void) { int x = K, n = 0; for (const step *s = __start_steps; s < __stop_steps; s++) if (*s) { x += (*s)(x); n++; } printf("%d %d %d\n", x, n, f(K)); return 0; }
