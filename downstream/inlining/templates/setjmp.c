// setjmp |  | program
#include <setjmp.h>
#include <stdio.h>
extern jmp_buf place;
void leap(int);
static int guarded(int x) { volatile int n = x; int code = setjmp(place); if (code) return code + n; n = BODY(x); leap(x); return n; }
static int count(int x) { volatile int tries = 0; int again = setjmp(place); tries++; if (again < 3) leap(3 * again + 2); return tries + x; }
int f(int x) { return USES(guarded, x) + USES(count, x); }
// ----
#include <setjmp.h>
#include <stdio.h>
jmp_buf place;
static void far(int x) { longjmp(place, x / 3 + 1); }
void leap(int x) { if (x % 3 == 2) far(x); }
int f(int);
int main(void) { for (int x = 0; x < 6; x++) printf("%d\n", f(x)); return 0; }
