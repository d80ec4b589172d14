// structures by value |  | program
#include <complex.h>
struct big { long v[9]; };
struct pair { float a; double b; };
struct big fill(int x) { struct big b; for (int i = 0; i < 9; i++) b.v[i] = BODY(x) + i; return b; }
static long total(struct big b) { long s = 0; for (int i = 0; i < 9; i++) s += b.v[i] * i; b.v[0] = 0; return s + b.v[0]; }
struct pair swap(struct pair p) { struct pair q = {(float)p.b, p.a}; return q; }
static double turn(int x) { double complex z = x + K * I; z = z * z; return creal(z) + cimag(z); }
static long one(int x) { struct big b = fill(x); return total(b) + b.v[0] + (long)turn(x); }
long f(int x) { return USES(one, x); }
// ----
#include <stdio.h>
struct big { long v[9]; };
struct pair { float a; double b; };
struct big fill(int);
struct pair swap(struct pair);
long f(int);
int main(void) { struct big b = fill(K); struct pair p = swap((struct pair){1.5f, K}); printf("%ld %ld %g %g\n", f(K), b.v[8], p.a, p.b); return 0; }
