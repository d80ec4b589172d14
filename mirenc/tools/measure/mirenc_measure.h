/* What `mirenc measure` asks of a driver. For a kernel in NAME.c, write NAME.driver.c:

     #include "mirenc_measure.h"
     const char mirenc_function[] = "saxpy";             the function of NAME.c to time
     const long mirenc_sizes[] = {1000, 100000, 0};      problem sizes, 0 ends the list
     int mirenc_setup(long size)                         allocate and fill the inputs; 0 means done
     void mirenc_reset(void)                             put back what a call changes; is not timed
     void mirenc_call(mirenc_kernel kernel)              cast `kernel` to its type, call it once
     long mirenc_output(int index, void **data)          elements of output `index`, or -1: there is none
     const char mirenc_types[] = "fd";                   a letter an output: f d (floating), b h i l (1 to 8 bytes)

   A kernel must give the same outputs whenever it is called after a reset, and may be called often after one. */
#ifndef MIRENC_MEASURE_H
#define MIRENC_MEASURE_H

typedef void (*mirenc_kernel)(void);

extern const char mirenc_function[];
extern const long mirenc_sizes[];
extern const char mirenc_types[];
int mirenc_setup(long size);
void mirenc_reset(void);
void mirenc_call(mirenc_kernel kernel);
long mirenc_output(int index, void **data);

#endif
