// thread-local variables | -pthread | program
_Thread_local int mine = K;
static _Thread_local int own = 1;
static int step(int x) { own += BODY(x); return mine += own; }
int f(int x) { return USES(step, x); }
// ----
#include <pthread.h>
#include <stdio.h>
extern _Thread_local int mine;
int f(int);
static void *run(void *p) { mine = 100; *(int *)p = f(K) + mine; return 0; }
int main(void) { int a = f(1), b; pthread_t t; pthread_create(&t, 0, run, &b); pthread_join(t, 0); printf("%d %d %d\n", a, b, mine); return 0; }
