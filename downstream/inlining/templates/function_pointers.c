// function pointers |  | program
#include <stdlib.h>
static int add(int x) { return x + K; }
static int mul(int x) { return BODY(x); }
int twice(int (*p)(int), int x) { return p(p(x)); }
int (*const table[])(int) = {add, mul};
int (*pick(int x))(int) { return table[x & 1]; }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
void order(int *list, int n) { qsort(list, n, sizeof *list, compare); }
static int through(int x) { return twice(pick(x), x) + twice(mul, x); }
int f(int x) { return USES(through, x) + (pick(0) == add) * 100 + (pick(1) == add); }
// ----
#include <stdio.h>
extern int (*const table[])(int);
int twice(int (*)(int), int), (*pick(int))(int), f(int);
void order(int *, int);
static int minus(int x) { return -x; }
int main(void) { int list[] = {5, K, 9, -3, 7}; order(list, 5); printf("%d %d %d %d %d %d\n", list[0], list[4], twice(minus, K), table[1](K), pick(1) == table[1], f(K)); return 0; }
