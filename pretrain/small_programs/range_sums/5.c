#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Recursive segment tree whose nodes are made only where a value is not zero. */

typedef struct Node Node;
struct Node {
  long sum;
  Node *child[2];
};

enum { SPAN = 1 << 16 };

static void store(Node **slot, int width, int place, long value) {
  if (*slot == NULL) *slot = calloc(1, sizeof(Node));
  Node *node = *slot;
  if (width == 1) {
    node->sum = value;
    return;
  }
  int half = width / 2, side = place >= half;
  store(&node->child[side], half, place - side * half, value);
  node->sum = 0;
  for (int i = 0; i < 2; i++)
    if (node->child[i]) node->sum += node->child[i]->sum;
}

/* Sum of the first `many` places. */
static long first(const Node *node, int width, int many) {
  if (node == NULL || many == 0) return 0;
  if (many == width) return node->sum;
  int half = width / 2;
  if (many <= half) return first(node->child[0], half, many);
  return first(node->child[0], half, half) + first(node->child[1], half, many - half);
}

static void destroy(Node *node) {
  if (!node) return;
  destroy(node->child[0]);
  destroy(node->child[1]);
  free(node);
}

int main(void) {
  Node *root = NULL;
  char buffer[64];
  int count, orders, a, b;
  long v;
  scanf("%d", &count);
  for (int i = 0; i < count; i++) {
    scanf("%ld", &v);
    store(&root, SPAN, i, v);
  }
  scanf("%d\n", &orders);
  while (orders-- && fgets(buffer, sizeof buffer, stdin)) {
    if (sscanf(buffer, "sum %d %d", &a, &b) == 2)
      printf("%ld\n", first(root, SPAN, b) - first(root, SPAN, a - 1));
    else if (sscanf(buffer, "set %d %ld", &a, &v) == 2)
      store(&root, SPAN, a - 1, v);
  }
  destroy(root);
  return 0;
}
