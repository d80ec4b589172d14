#include <stdio.h>
#include <string.h>

/* Two stacks: one of numbers, one of operators that wait for their right side. '~' is the minus sign of a number. */

long nums[100];
char ops[100];
int nn, no;

int rank(char c) {
  switch (c) {
    case '+': case '-': return 1;
    case '*': case '/': return 2;
    case '~': return 3;
  }
  return 0;
}

void apply(void) {
  char op = ops[--no];
  long b = nums[--nn];
  if (op == '~') { nums[nn++] = -b; return; }
  long a = nums[--nn];
  if (op == '+') a += b;
  if (op == '-') a -= b;
  if (op == '*') a *= b;
  if (op == '/') a /= b;
  nums[nn++] = a;
}

long eval(char *s) {
  int operand = 1; /* do we expect an operand? */
  nn = no = 0;
  for (; *s && *s != '\n'; s++) {
    if (*s == ' ') continue;
    if (*s >= '0' && *s <= '9') {
      long v = 0;
      while (*s >= '0' && *s <= '9') v = 10 * v + *s++ - '0';
      s--;
      nums[nn++] = v;
      operand = 0;
    } else if (*s == '(') {
      ops[no++] = '(';
      operand = 1;
    } else if (*s == ')') {
      while (ops[no - 1] != '(') apply();
      no--;
      operand = 0;
    } else if (operand && *s == '-') {
      ops[no++] = '~';
    } else {
      while (no && rank(ops[no - 1]) >= rank(*s)) apply();
      ops[no++] = *s;
      operand = 1;
    }
  }
  while (no) apply();
  return nums[0];
}

int main(void) {
  char buf[300];
  while (fgets(buf, 300, stdin) && strlen(buf) > 1) printf("%ld\n", eval(buf));
  return 0;
}
