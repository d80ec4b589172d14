#include <stdio.h>
#include <string.h>

/* Length of the longest common subsequence of two words, and the edit distance with insertions and deletions only. */

#define MAX 1000

static int table[MAX + 1][MAX + 1];

static int max(int a, int b)
{
    return a > b ? a : b;
}

static int longest(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b);
    for (int i = 1; i <= n; i++) {
        for (int j = 1; j <= m; j++) {
            if (a[i - 1] == b[j - 1])
                table[i][j] = table[i - 1][j - 1] + 1;
            else
                table[i][j] = max(table[i - 1][j], table[i][j - 1]);
        }
    }
    return table[n][m];
}

int main(void)
{
    static char first[MAX + 1], second[MAX + 1];
    while (scanf("%1000s %1000s", first, second) == 2) {
        int common = longest(first, second);
        int edits = (int)(strlen(first) + strlen(second)) - 2 * common;
        printf("%d %d\n", common, edits);
    }
    return 0;
}
