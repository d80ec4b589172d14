/* One call of a driver's kernel, whose IR counts in mirenc_counts; the counts go to stderr. Arguments: SIZE. */
#include "mirenc_measure.h"

#include <stdio.h>
#include <stdlib.h>

extern unsigned long long mirenc_counts[MIRENC_COUNTS];
void MIRENC_FUNCTION(void);

int main(int count, char **words) {
  if (mirenc_setup(atol(words[1])) != 0)
    return 1;
  mirenc_reset();
  mirenc_call((mirenc_kernel)MIRENC_FUNCTION);
  fprintf(stderr, "\nmirenc");
  for (int one = 0; one < MIRENC_COUNTS; one++)
    fprintf(stderr, " %llu", mirenc_counts[one]);
  return 0;
}
