#include <ctype.h>
#include <stdio.h>

/* Recursive descent, one function for each rule of the grammar. One expression a line. */

static const char *cursor;

static long expression(void);

static void skip_spaces(void)
{
    while (*cursor == ' ')
        cursor++;
}

static int accept(char wanted)
{
    skip_spaces();
    if (*cursor != wanted)
        return 0;
    cursor++;
    return 1;
}

static long factor(void)
{
    long value = 0;
    if (accept('-'))
        return -factor();
    if (accept('(')) {
        value = expression();
        accept(')');
        return value;
    }
    skip_spaces();
    while (isdigit((unsigned char)*cursor))
        value = value * 10 + (*cursor++ - '0');
    return value;
}

static long term(void)
{
    long value = factor();
    for (;;) {
        if (accept('*'))
            value *= factor();
        else if (accept('/'))
            value /= factor();
        else
            return value;
    }
}

static long expression(void)
{
    long value = term();
    for (;;) {
        if (accept('+'))
            value += term();
        else if (accept('-'))
            value -= term();
        else
            return value;
    }
}

int main(void)
{
    char line[256];
    while (fgets(line, sizeof line, stdin)) {
        cursor = line;
        printf("%ld\n", expression());
    }
    return 0;
}
