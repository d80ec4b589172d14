// large switches |  | program
static const char *name(int x) { switch (x) { case 0: return "zero"; case 1: return "one"; case 2: return "two"; case 3: return "three"; case 7: return "seven"; case 9: return "nine"; default: return "many"; } }
static int value(int x) { switch (x & 15) { case 0: return 3; case 1: return K; case 2: return 11; case 3: return BODY(x); case 4: return 5; case 5: return 1; case 6: return 4; case 12: return 19; default: return -1; } }
int f(int x) { return USES(value, x); }
const char *word(int x) { return name(x + K - 2); }
// ----
#include <stdio.h>
int f(int);
const char *word(int);
int main(void) { for (int x = 0; x < 18; x++) printf("%d %s\n", f(x), word(x)); return 0; }
