#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Split at the operator that is applied last, then solve both sides. Text is given as [from, to). */

static int is_op(char c) { return c == '+' || c == '-' || c == '*' || c == '/'; }

static void squeeze(char *s) {
    char *d = s;
    for (; *s; s++)
        if (*s != ' ' && *s != '\n') *d++ = *s;
    *d = 0;
}

/* The last operator of the lowest strength outside brackets, or NULL. A minus after an operator is a sign. */
static const char *split(const char *from, const char *to) {
    const char *strong = NULL, *weak = NULL;
    int depth = 0;
    for (const char *p = from; p < to; p++) {
        if (*p == '(') depth++;
        if (*p == ')') depth--;
        if (depth || !is_op(*p) || p == from || is_op(p[-1])) continue;
        if (*p == '+' || *p == '-') weak = p;
        else strong = p;
    }
    return weak ? weak : strong;
}

static long solve(const char *from, const char *to) {
    const char *op = split(from, to);
    if (op) {
        long l = solve(from, op), r = solve(op + 1, to);
        switch (*op) {
            case '+': return l + r;
            case '-': return l - r;
            case '*': return l * r;
            default: return l / r;
        }
    }
    if (*from == '-') return -solve(from + 1, to);
    if (*from == '(') return solve(from + 1, to - 1);
    return strtol(from, NULL, 10);
}

int main(void) {
    char s[400];
    while (fgets(s, sizeof s, stdin)) {
        squeeze(s);
        printf("%ld\n", solve(s, s + strlen(s)));
    }
    return 0;
}
