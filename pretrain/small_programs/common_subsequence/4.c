#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Hunt and Szymanski: matches become a longest increasing subsequence, found by binary search. */

typedef struct Place {
    int index;
    struct Place *before;
} Place;

static int lower_bound(const int *tails, int count, int value)
{
    int lo = 0, hi = count;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (tails[mid] < value)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static int common(const char *a, const char *b)
{
    Place *places[256] = {NULL};
    int m = (int)strlen(b), length = 0;
    Place *store = malloc(sizeof(Place) * (size_t)(m + 1));
    int *tails = malloc(sizeof(int) * (size_t)(m + 1));

    /* The list of a letter starts with its last place, as the method wants it. */
    for (int j = 0; j < m; j++) {
        unsigned char letter = (unsigned char)b[j];
        store[j] = (Place){j, places[letter]};
        places[letter] = &store[j];
    }
    for (; *a; a++) {
        for (Place *p = places[(unsigned char)*a]; p; p = p->before) {
            int at = lower_bound(tails, length, p->index);
            tails[at] = p->index;
            if (at == length)
                length++;
        }
    }
    free(store);
    free(tails);
    return length;
}

int main(void)
{
    char a[1200], b[1200];
    while (scanf("%1199s%1199s", a, b) == 2) {
        int c = common(a, b);
        printf("%d %d\n", c, (int)(strlen(a) + strlen(b)) - c - c);
    }
    return EXIT_SUCCESS;
}
