#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* Builds a tree first and evaluates it afterwards. */

typedef struct Tree {
    char kind; /* 'n' for a number, 'u' for minus, or the operator */
    long number;
    struct Tree *a, *b;
} Tree;

static char text[1000];
static int pos;

static Tree *make(char kind, Tree *a, Tree *b)
{
    Tree *t = calloc(1, sizeof(Tree));
    t->kind = kind;
    t->a = a;
    t->b = b;
    return t;
}

static Tree *parse(int level)
{
    static const char *signs[] = {"+-", "*/"};
    if (level == 2) {
        while (text[pos] == ' ') pos++;
        if (text[pos] == '-') { pos++; return make('u', parse(2), NULL); }
        if (text[pos] == '(') {
            pos++;
            Tree *inner = parse(0);
            pos++;
            while (text[pos] == ' ') pos++;
            return inner;
        }
        Tree *leaf = make('n', NULL, NULL);
        for (; isdigit((unsigned char)text[pos]); pos++) leaf->number = leaf->number * 10 + text[pos] - '0';
        while (text[pos] == ' ') pos++;
        return leaf;
    }
    Tree *left = parse(level + 1);
    while (text[pos] == signs[level][0] || text[pos] == signs[level][1]) {
        char op = text[pos++];
        left = make(op, left, parse(level + 1));
    }
    return left;
}

static long compute(Tree *t)
{
    long r = 0;
    switch (t->kind) {
    case 'n': r = t->number; break;
    case 'u': r = -compute(t->a); break;
    case '+': r = compute(t->a) + compute(t->b); break;
    case '-': r = compute(t->a) - compute(t->b); break;
    case '*': r = compute(t->a) * compute(t->b); break;
    case '/': r = compute(t->a) / compute(t->b); break;
    }
    free(t->a);
    free(t->b);
    return r;
}

int main(void)
{
    while (fgets(text, sizeof text, stdin)) {
        pos = 0;
        Tree *root = parse(0);
        printf("%ld\n", compute(root));
        free(root);
    }
    return 0;
}
