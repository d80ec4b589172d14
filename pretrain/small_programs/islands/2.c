/* islands by union and find over cell numbers */
#include <stdio.h>

int parent[10000], size[10000];

int find(int x) {
  while (parent[x] != x) {
    parent[x] = parent[parent[x]];
    x = parent[x];
  }
  return x;
}

void unite(int a, int b) {
  int t;
  a = find(a);
  b = find(b);
  if (a == b) return;
  if (size[a] < size[b]) {
    t = a;
    a = b;
    b = t;
  }
  parent[b] = a;
  size[a] += size[b];
}

int main() {
  static char g[100][128];
  int h, w, i, j, cnt = 0, big = 0;
  scanf("%d%d", &h, &w);
  for (i = 0; i < h; i++) scanf("%s", g[i]);
  for (i = 0; i < h; i++)
    for (j = 0; j < w; j++) {
      int id = i * w + j;
      if (g[i][j] != '#') continue;
      parent[id] = id;
      size[id] = 1;
      if (i > 0 && g[i - 1][j] == '#') unite(id, id - w);
      if (j > 0 && g[i][j - 1] == '#') unite(id, id - 1);
    }
  for (i = 0; i < h * w; i++)
    if (size[i] && parent[i] == i) {
      cnt++;
      if (size[i] > big) big = size[i];
    }
  printf("%d %d\n", cnt, big);
  return 0;
}
