/* The timing loop, built into one shared object with a driver. */
#define _POSIX_C_SOURCE 199309L
#include "mirenc_measure.h"

#include <time.h>

/* Seconds of `calls` calls after a reset, which is not timed. */
double mirenc_time(mirenc_kernel kernel, long calls) {
  struct timespec start, end;
  mirenc_reset();
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (long call = 0; call < calls; call++)
    mirenc_call(kernel);
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}
