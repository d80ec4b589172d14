#include <stdio.h>
#include <stdlib.h>

/* Depth first with a linked stack; runs of land in a row are taken as a whole. */

typedef struct Seed {
  int row, column;
  struct Seed *under;
} Seed;

static char *sea[128];
static int height, width;

static Seed *push(Seed *stack, int row, int column) {
  Seed *seed = malloc(sizeof *seed);
  seed->row = row;
  seed->column = column;
  seed->under = stack;
  return seed;
}

static int fill(int row, int column) {
  int filled = 0;
  Seed *stack = push(NULL, row, column);
  while (stack) {
    Seed *top = stack;
    int r = top->row, from = top->column, to = top->column;
    stack = top->under;
    free(top);
    if (sea[r][from] != '#') continue;
    while (from > 0 && sea[r][from - 1] == '#') from--;
    while (to + 1 < width && sea[r][to + 1] == '#') to++;
    for (int c = from; c <= to; c++) {
      sea[r][c] = 'o';
      filled++;
      if (r > 0 && sea[r - 1][c] == '#') stack = push(stack, r - 1, c);
      if (r + 1 < height && sea[r + 1][c] == '#') stack = push(stack, r + 1, c);
    }
  }
  return filled;
}

int main(void) {
  int number = 0, record = 0;
  scanf("%d %d", &height, &width);
  for (int r = 0; r < height; r++) {
    sea[r] = malloc((size_t)width + 1);
    scanf("%s", sea[r]);
  }
  for (int i = 0; i < height * width; i++) {
    if (sea[i / width][i % width] == '#') {
      int n = fill(i / width, i % width);
      number++;
      if (n > record) record = n;
    }
  }
  printf("%d %d\n", number, record);
  for (int r = 0; r < height; r++) free(sea[r]);
  return 0;
}
