// constructors and destructors |  | program
#include <stdio.h>
#include <stdlib.h>
static int state = K;
static int say(int x) { printf("say %d\n", x); return state += BODY(x); }
__attribute__((constructor(200))) static void early(void) { say(1); }
__attribute__((constructor)) static void late(void) { say(2); }
__attribute__((destructor)) static void end(void) { say(3); }
__attribute__((destructor(150))) static void last(void) { say(4); }
static void leave(void) { say(5); }
int f(int x) { atexit(leave); return USES(say, x); }
// ----
#include <stdio.h>
int f(int);
__attribute__((constructor(150))) static void first(void) { puts("first"); }
__attribute__((constructor)) static void second(void) { puts("second"); }
__attribute__((destructor)) static void gone(void) { puts("gone"); }
int main(void) { printf("%d\n", f(K)); return K; }
