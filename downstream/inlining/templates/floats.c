// floats | -lm | program
#include <math.h>
static double wave(double x) { return sin(x) * 0.5 + x / 3; }
static float narrow(float x) { return x * 1.1f + 0.3f; }
static long double wide(long double x) { return x / 3.0L + K; }
static int kind(double x) { return isnan(x) ? 1 : isinf(x) ? 2 : signbit(x) ? 3 : 4; }
static double one(int x) { return wave(BODY(x)) + narrow(x) + (double)wide(x) + kind(0.0 / x) + kind(-1.0 / x) + kind(x); }
double f(int x) { return USES(one, x); }
// ----
#include <stdio.h>
double f(int);
int main(void) { for (int x = -2; x < 4; x++) printf("%.17g\n", f(x)); return 0; }
