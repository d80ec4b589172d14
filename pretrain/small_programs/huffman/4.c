#include <stdio.h>
#include <string.h>

/* Nodes in arrays with parent numbers; the two lightest roots are searched for, code lengths by climbing. */

#define NODES 512

static int weight[NODES], parent[NODES];

static int lightest(int nodes, int except)
{
    int best = -1;
    for (int i = 0; i < nodes; i++) {
        if (parent[i] != -1 || i == except)
            continue;
        if (best == -1 || weight[i] < weight[best])
            best = i;
    }
    return best;
}

static int depth(int node)
{
    int steps = 0;
    for (; parent[node] != -1; node = parent[node])
        steps++;
    return steps;
}

int main(void)
{
    char text[1024];
    while (fgets(text, sizeof text, stdin) != NULL) {
        int seen[256], leaves = 0, bits = 0;
        memset(seen, -1, sizeof seen);
        memset(parent, -1, sizeof parent);
        text[strcspn(text, "\n")] = '\0';
        for (const unsigned char *p = (unsigned char *)text; *p; p++) {
            if (seen[*p] < 0) {
                seen[*p] = leaves;
                weight[leaves++] = 0;
            }
            weight[seen[*p]]++;
        }
        int nodes = leaves;
        while (nodes < 2 * leaves - 1) {
            int a = lightest(nodes, -1);
            int b = lightest(nodes, a);
            weight[nodes] = weight[a] + weight[b];
            parent[a] = parent[b] = nodes++;
        }
        for (int i = 0; i < leaves; i++)
            bits += weight[i] * (leaves == 1 ? 1 : depth(i));
        printf("%d %d\n", leaves, bits);
    }
    return 0;
}
