#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The five most frequent words, more frequent first, equals by alphabet. A hash table with chains. */

#define BUCKETS 211

typedef struct Entry {
    char word[32];
    int count;
    struct Entry *next;
} Entry;

static Entry *buckets[BUCKETS];
static int distinct;

static unsigned hash(const char *word)
{
    unsigned h = 5381;
    for (; *word; word++)
        h = h * 33 + (unsigned char)*word;
    return h % BUCKETS;
}

static void count_word(const char *word)
{
    unsigned h = hash(word);
    for (Entry *e = buckets[h]; e != NULL; e = e->next) {
        if (strcmp(e->word, word) == 0) {
            e->count++;
            return;
        }
    }
    Entry *e = calloc(1, sizeof *e);
    strcpy(e->word, word);
    e->count = 1;
    e->next = buckets[h];
    buckets[h] = e;
    distinct++;
}

static int by_count(const void *a, const void *b)
{
    const Entry *x = *(Entry *const *)a, *y = *(Entry *const *)b;
    return x->count != y->count ? y->count - x->count : strcmp(x->word, y->word);
}

int main(void)
{
    char word[32];
    int length = 0, c;
    do {
        c = getchar();
        if (c != EOF && isalpha(c)) {
            if (length < 31)
                word[length++] = (char)tolower(c);
        } else if (length > 0) {
            word[length] = '\0';
            count_word(word);
            length = 0;
        }
    } while (c != EOF);
    Entry **all = malloc((size_t)distinct * sizeof *all);
    int n = 0;
    for (int i = 0; i < BUCKETS; i++)
        for (Entry *e = buckets[i]; e != NULL; e = e->next)
            all[n++] = e;
    qsort(all, (size_t)n, sizeof *all, by_count);
    for (int i = 0; i < n && i < 5; i++)
        printf("%s %d\n", all[i]->word, all[i]->count);
    free(all);
    return 0;
}
