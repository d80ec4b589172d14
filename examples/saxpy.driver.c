/* What `mirenc measure vectorization examples/saxpy.c -o FOLDER` runs saxpy on. */
#include <stdlib.h>

#include "mirenc_measure.h"

const char mirenc_function[] = "saxpy";
const long mirenc_sizes[] = {100, 10000, 0};
const char mirenc_types[] = "f";

static long n;
static float *x, *y;

int mirenc_setup(long size) {
  n = size;
  x = malloc(n * sizeof *x);
  y = malloc(n * sizeof *y);
  return x == NULL || y == NULL;
}

void mirenc_reset(void) {
  for (long i = 0; i < n; i++) {
    x[i] = (float)(i % 7) - 3;
    y[i] = 0;
  }
}

void mirenc_call(mirenc_kernel kernel) {
  ((void (*)(int, float, const float *, float *))kernel)((int)n, 0.5f, x, y);
}

long mirenc_output(int index, void **data) {
  *data = y;
  return index == 0 ? n : -1;
}
