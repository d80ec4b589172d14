// computed goto |  | program
static int run(const unsigned char *code, int x) {
  static void *const labels[] = {&&add, &&mul, &&sub, &&loop, &&end};
  int turns = 0;
  goto *labels[*code];
add: x += K; goto *labels[*++code];
mul: x = BODY(x); goto *labels[*++code];
sub: x -= 3; goto *labels[*++code];
loop: if (++turns < 4) code -= 3; goto *labels[*++code];
end: return x;
}
static const unsigned char one[] = {0, 1, 2, 3, 4}, two[] = {1, 0, 0, 3, 4};
static int both(int x) { return run(one, x) ^ run(two, x); }
int f(int x) { return USES(both, x); }
// ----
#include <stdio.h>
int f(int);
int main(void) { for (int x = 0; x < 5; x++) printf("%d\n", f(x)); return 0; }
