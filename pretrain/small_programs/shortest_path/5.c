#include <stdio.h>
#include <stdlib.h>

/* A queue of nodes whose distance has changed; each is looked at again until the queue runs dry. */

typedef struct Arc {
  int end, price;
  struct Arc *following;
} Arc;

typedef struct {
  Arc *first;
  long reach;
  int queued;
} Vertex;

static Vertex vertices[200];
static int ring[256];
static unsigned char front, back;

static void enqueue(int v) {
  if (vertices[v].queued) return;
  vertices[v].queued = 1;
  ring[back++] = v;
}

static void link_arc(int start, int end, int price) {
  Arc *arc = malloc(sizeof *arc);
  arc->end = end;
  arc->price = price;
  arc->following = vertices[start].first;
  vertices[start].first = arc;
}

int main(void) {
  int vertexCount, arcCount;
  scanf("%d%d", &vertexCount, &arcCount);
  for (int i = 0; i < arcCount; i++) {
    int s, e, p;
    scanf("%d%d%d", &s, &e, &p);
    link_arc(s, e, p);
  }
  for (int v = 2; v <= vertexCount; v++) vertices[v].reach = -1;
  enqueue(1);
  while (front != back) {
    int v = ring[front++];
    vertices[v].queued = 0;
    for (Arc *arc = vertices[v].first; arc; arc = arc->following) {
      long candidate = vertices[v].reach + arc->price;
      Vertex *w = &vertices[arc->end];
      if (w->reach == -1 || candidate < w->reach) {
        w->reach = candidate;
        enqueue(arc->end);
      }
    }
  }
  for (int v = 1; v <= vertexCount; v++) printf("%ld\n", vertices[v].reach);
  return 0;
}
