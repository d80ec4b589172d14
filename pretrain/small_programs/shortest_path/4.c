#include <stdio.h>

#define N 64
#define INF 1000000000

/* Floyd and Warshall: all pairs, of which only the first row is printed. */

int d[N][N];

void init(int n)
{
    int i, j;
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            d[i][j] = (i == j) ? 0 : INF;
}

void read_edges(int m)
{
    int a, b, w;
    while (m-- > 0 && scanf("%d %d %d", &a, &b, &w) == 3) {
        a--;
        b--;
        if (w < d[a][b])
            d[a][b] = w;
    }
}

void close_paths(int n)
{
    int via, i, j;
    for (via = 0; via < n; via++)
        for (i = 0; i < n; i++)
            for (j = 0; j < n; j++)
                if (d[i][via] + d[via][j] < d[i][j])
                    d[i][j] = d[i][via] + d[via][j];
}

int main(void)
{
    int n, m, j;
    scanf("%d %d", &n, &m);
    init(n);
    read_edges(m);
    close_paths(n);
    for (j = 0; j < n; j++)
        printf("%d\n", d[0][j] < INF ? d[0][j] : -1);
    return 0;
}
