#include <stdio.h>
#include <string.h>

/* Counts how often the pattern (line 1) occurs in the text (line 2); occurrences may overlap. Position by position. */

static int matches_at(const char *text, const char *pattern)
{
    while (*pattern != '\0') {
        if (*text != *pattern)
            return 0;
        text++;
        pattern++;
    }
    return 1;
}

int main(void)
{
    char pattern[1001], text[10001];
    int count = 0;
    long first = -1;

    if (scanf("%1000s %10000s", pattern, text) != 2)
        return 1;
    size_t length = strlen(text), wanted = strlen(pattern);
    for (size_t start = 0; start + wanted <= length; start++) {
        if (matches_at(text + start, pattern)) {
            if (count == 0)
                first = (long)start;
            count++;
        }
    }
    printf("%d %ld\n", count, first);
    return 0;
}
