// volatile |  | program
volatile int port;
extern int written;
static int poke(int x) { port = BODY(x); int a = port; port = a + 1; return a + port; }
static void clear(volatile unsigned char *p, int n) { while (n--) *p++ = 0; }
int f(int x) { unsigned char key[8] = {K}; clear(key, 8); return USES(poke, x) + key[0] + written; }
// ----
#include <signal.h>
#include <stdio.h>
extern volatile int port;
int written;
static volatile sig_atomic_t came;
static void handle(int s) { came += s != 0; written++; }
int f(int);
int main(void) { signal(SIGUSR1, handle); raise(SIGUSR1); int a = f(K); raise(SIGUSR1); printf("%d %d %d %d\n", a, port, (int)came, written); return 0; }
