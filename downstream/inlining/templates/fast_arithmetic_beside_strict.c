// fast arithmetic beside strict | -ffp-contract=off -lm | program
#include <math.h>
static double strict(double a, double b) { return a * b - a; }
static double halved(double a) { return a == a ? a / 2 : -1; }
static double one(int x) { return strict(x + 0.1, 1.0 / (x + 11)) + halved(BODY(x)) + halved(NAN); }
double f(int x) { return USES(one, x); }
// ----
#include <stdio.h>
double f(int);
int main(void) { for (int x = 0; x < 4; x++) printf("%.17g\n", f(x + K)); return 0; }
