#include <stdbool.h>
#include <stdio.h>

/* By definition: an edge of the hull has all points on one side. Every ordered pair is tried. */

#define MOST 200

static int px[MOST], py[MOST];
static int total;

static long side_of(int from, int to, int who) {
  return (long)(px[to] - px[from]) * (py[who] - py[from]) - (long)(py[to] - py[from]) * (px[who] - px[from]);
}

/* Whether `who`, on the line through both, lies between them. */
static bool between(int from, int to, int who) {
  long dot = (long)(px[who] - px[from]) * (px[who] - px[to]) + (long)(py[who] - py[from]) * (py[who] - py[to]);
  return dot <= 0;
}

static bool is_edge(int from, int to) {
  if (px[from] == px[to] && py[from] == py[to]) return false;
  for (int who = 0; who < total; who++) {
    long side = side_of(from, to, who);
    if (side < 0) return false;
    if (side == 0 && !between(from, to, who)) return false;
  }
  return true;
}

int main(void) {
  int edges = 0;
  long doubleArea = 0;
  scanf("%d", &total);
  for (int i = 0; i < total; i++) scanf("%d %d", px + i, py + i);
  for (int i = 0; i < total; i++) {
    for (int j = 0; j < total; j++) {
      if (i != j && is_edge(i, j)) {
        edges++;
        doubleArea += (long)px[i] * py[j] - (long)px[j] * py[i];
      }
    }
  }
  printf("%d %ld\n", edges, doubleArea);
  return 0;
}
