// rounding modes | -frounding-math -ftrapping-math -lm | program
#include <fenv.h>
static double third(double x) { return 1.0 / x + 0.1; }
static double up(double x) { int was = fegetround(); fesetround(FE_UPWARD); double y = third(x); fesetround(was); return y; }
static double down(double x) { int was = fegetround(); fesetround(FE_DOWNWARD); double y = third(x); fesetround(was); return y; }
static double width(int x) { return (up(x + 3) - down(x + 3)) * 1e15 + BODY(x); }
double f(int x) { return USES(width, x); }
// ----
#include <stdio.h>
double f(int);
int main(void) { for (int x = 0; x < 4; x++) printf("%.17g\n", f(x + K)); return 0; }
