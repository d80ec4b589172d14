// weak constant |  | program
__attribute__((weak)) extern const int limit;
const int limit = 3;
__attribute__((weak)) int table[4] = {1, 2, 3, 4};
static int within(int x) { return x < limit ? BODY(x) : table[x & 3]; }
int f(int x) { return USES(within, x); }
// ----
#include <stdio.h>
const int limit = 100 + K;
int table[4] = {5, 6, 7, 8};
int f(int);
int main(void) { printf("%d %d\n", f(K), f(200)); return 0; }
