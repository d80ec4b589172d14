#include <stdio.h>
#include <stdlib.h>

/* Cells as records that know their neighbours by pointer. */

typedef struct Cell Cell;
struct Cell {
  Cell *near[8];
  int alive;
  int will_live;
};

static Cell *cell_at(Cell *all, int rows, int cols, int r, int c) {
  return all + ((r + rows) % rows) * cols + (c + cols) % cols;
}

static void introduce(Cell *all, int rows, int cols) {
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < cols; c++) {
      Cell **slot = cell_at(all, rows, cols, r, c)->near;
      for (int dr = -1; dr <= 1; dr++)
        for (int dc = -1; dc <= 1; dc++)
          if (dr | dc) *slot++ = cell_at(all, rows, cols, r + dr, c + dc);
    }
}

static void decide(Cell *cell) {
  int friends = 0;
  for (int i = 0; i < 8; i++) friends += cell->near[i]->alive;
  switch (friends) {
    case 2: cell->will_live = cell->alive; break;
    case 3: cell->will_live = 1; break;
    default: cell->will_live = 0;
  }
}

int main(void) {
  int rows, cols, generations, living = 0;
  char symbol[2];
  if (scanf("%d%d%d", &rows, &cols, &generations) != 3) return EXIT_FAILURE;
  Cell *all = calloc((size_t)(rows * cols), sizeof *all), *end = all + rows * cols;
  for (Cell *p = all; p != end; p++) {
    scanf("%1s", symbol);
    p->alive = symbol[0] == '#';
  }
  introduce(all, rows, cols);
  for (int g = 0; g < generations; g++) {
    for (Cell *p = all; p != end; p++) decide(p);
    for (Cell *p = all; p != end; p++) p->alive = p->will_live;
  }
  for (Cell *p = all; p != end; p++) {
    putchar(p->alive ? '#' : '.');
    living += p->alive;
    if ((p - all + 1) % cols == 0) puts("");
  }
  printf("%d\n", living);
  free(all);
  return EXIT_SUCCESS;
}
