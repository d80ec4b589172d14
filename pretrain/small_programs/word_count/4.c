#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A binary search tree of words, then a list sorted by insertion. */

typedef struct Word {
    char *text;
    int times;
    struct Word *left, *right;
    struct Word *below; /* next in the ranking */
} Word;

static Word *ranking;

static Word *learn(Word *tree, const char *text)
{
    if (tree == NULL) {
        Word *fresh = calloc(1, sizeof(Word));
        fresh->text = malloc(strlen(text) + 1);
        strcpy(fresh->text, text);
        fresh->times = 1;
        return fresh;
    }
    int order = strcmp(text, tree->text);
    if (order == 0)
        tree->times++;
    else if (order < 0)
        tree->left = learn(tree->left, text);
    else
        tree->right = learn(tree->right, text);
    return tree;
}

static void rank(Word *tree)
{
    if (tree == NULL)
        return;
    rank(tree->left);
    Word **place = &ranking;
    while (*place != NULL && (*place)->times >= tree->times)
        place = &(*place)->below;
    tree->below = *place;
    *place = tree;
    rank(tree->right);
}

int main(void)
{
    Word *tree = NULL;
    char token[64];
    while (scanf("%*[^A-Za-z]"), scanf("%63[A-Za-z]", token) == 1) {
        for (char *p = token; *p; p++)
            *p = (char)tolower((unsigned char)*p);
        tree = learn(tree, token);
    }
    rank(tree);
    int shown = 0;
    for (Word *w = ranking; w != NULL && shown < 5; w = w->below, shown++)
        printf("%s %d\n", w->text, w->times);
    return 0;
}
