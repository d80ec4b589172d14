#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* Precedence climbing: one loop, one table, no rule a level. */

typedef struct {
	char *text;
	size_t at;
} Scanner;

static char look(Scanner *s)
{
	while (isspace((unsigned char)s->text[s->at]))
		s->at++;
	return s->text[s->at];
}

static int binding_of(char op)
{
	switch (op) {
	case '+':
	case '-':
		return 1;
	case '*':
	case '/':
		return 2;
	default:
		return 0;
	}
}

static long climb(Scanner *s, int least);

static long primary(Scanner *s)
{
	char c = look(s);
	if (c == '-') {
		s->at++;
		return -primary(s);
	}
	if (c == '(') {
		s->at++;
		long v = climb(s, 1);
		look(s);
		s->at++;
		return v;
	}
	char *end;
	long v = strtol(s->text + s->at, &end, 10);
	s->at = (size_t)(end - s->text);
	return v;
}

static long climb(Scanner *s, int least)
{
	long left = primary(s);
	char op;
	while (binding_of(op = look(s)) >= least) {
		s->at++;
		long right = climb(s, binding_of(op) + 1);
		left = op == '+' ? left + right : op == '-' ? left - right : op == '*' ? left * right : left / right;
	}
	return left;
}

int main(void)
{
	char line[512];
	while (fgets(line, sizeof line, stdin) != NULL) {
		Scanner s = {line, 0};
		printf("%ld\n", climb(&s, 1));
	}
	return 0;
}
