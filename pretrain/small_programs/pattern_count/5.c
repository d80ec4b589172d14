#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The Z function of pattern, separator, text. */

static int *z_function(const char *s, int n) {
    int *z = calloc(n, sizeof(int));
    int left = 0, right = 0;
    for (int i = 1; i < n; i++) {
        if (i < right) {
            int inside = z[i - left];
            z[i] = inside < right - i ? inside : right - i;
        }
        while (i + z[i] < n && s[z[i]] == s[i + z[i]])
            z[i]++;
        if (i + z[i] > right) {
            left = i;
            right = i + z[i];
        }
    }
    return z;
}

int main(void) {
    char *word = malloc(1000), *body = malloc(15000), *joined = malloc(17000);
    if (scanf("%999s %14999s", word, body) != 2)
        return 1;
    int size = (int)strlen(word);
    sprintf(joined, "%s#%s", word, body);
    int whole = (int)strlen(joined);
    int *z = z_function(joined, whole);
    int found = 0, first = -1;
    for (int i = whole - 1; i > size; i--) {
        if (z[i] == size) {
            found++;
            first = i - size - 1;
        }
    }
    printf("%d %d\n", found, first);
    free(z);
    free(word);
    free(body);
    free(joined);
    return 0;
}
