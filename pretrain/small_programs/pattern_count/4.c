#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Horspool: the character under the end of the window says how far it may jump. */

static void make_jumps(const char *pattern, int length, int jump[])
{
    for (int c = 0; c <= UCHAR_MAX; c++)
        jump[c] = length;
    for (int i = 0; i + 1 < length; i++)
        jump[(unsigned char)pattern[i]] = length - 1 - i;
}

int main(void)
{
    char pattern[500], text[20000];
    int jump[UCHAR_MAX + 1];
    int total = 0, earliest = -1;

    if (!fgets(pattern, sizeof pattern, stdin) || !fgets(text, sizeof text, stdin))
        return 1;
    pattern[strcspn(pattern, "\r\n")] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    int m = (int)strlen(pattern);
    int n = (int)strlen(text);
    make_jumps(pattern, m, jump);
    for (int at = 0; at <= n - m; at += jump[(unsigned char)text[at + m - 1]]) {
        int i = m - 1;
        while (i >= 0 && text[at + i] == pattern[i])
            i--;
        if (i < 0) {
            total++;
            earliest = earliest < 0 ? at : earliest;
        }
    }
    printf("%d %d\n", total, earliest);
    return 0;
}
