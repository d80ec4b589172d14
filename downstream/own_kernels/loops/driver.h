/* How the driver of every generated loop begins. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "mirenc_measure.h"

static void *allocate(long bytes, long offset)
{
    char *start = aligned_alloc(64, (bytes + offset + 127) / 64 * 64);
    if (!start)
        abort();
    return start + offset;
}
