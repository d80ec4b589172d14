// inline assembler |  | program
#include <stdio.h>
static int add(int a, int b) { __asm__("addl %1, %0 # call @add(%0)" : "+r"(a) : "r"(b) : "cc"); return a; }
static int keep(int x) { __asm__ volatile("" : "+r"(x) : : "memory"); return BODY(x); }
static const char text[] = "  %1 = call i32 @keep(i32 1)";
__asm__(".pushsection .rodata\n.globl marker\nmarker: .long 41\n.popsection");
extern const int marker;
int f(int x) { puts(text); return USES(keep, x) + add(x, marker) + add(K, x); }
// ----
#include <stdio.h>
int f(int);
int main(void) { printf("%d\n", f(K)); return 0; }
