// atomics | -pthread | program
#include <stdatomic.h>
atomic_int total;
static atomic_flag lock = ATOMIC_FLAG_INIT;
static int guarded;
static int enter(int x) { while (atomic_flag_test_and_set(&lock)) ; guarded += BODY(x) & 3; atomic_flag_clear(&lock); return atomic_fetch_add(&total, 1); }
int f(int x) { return USES(enter, x) * 0; }
int seen(void) { return guarded; }
// ----
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
extern atomic_int total;
int f(int), seen(void);
static void *run(void *p) { for (int i = 0; i < 500; i++) f(K); return p; }
int main(void) { pthread_t t[3]; for (int i = 0; i < 3; i++) pthread_create(t + i, 0, run, 0); for (int i = 0; i < 3; i++) pthread_join(t[i], 0); printf("%d %d\n", (int)total, seen()); return 0; }
