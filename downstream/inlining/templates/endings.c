// endings |  | program
#include <stdio.h>
#include <stdlib.h>
_Noreturn static void leave(int code) { printf("leaving %d\n", code); exit(code & 127); }
static int check(int x) { if (x > 20 + K) leave(BODY(x)); return x + 1; }
int f(int x) { return USES(check, x); }
// ----
#include <stdio.h>
#include <stdlib.h>
int f(int);
static void bye(void) { puts("bye"); }
int main(void) { atexit(bye); for (int x = 0; x < 40; x++) printf("%d\n", f(x)); abort(); }
