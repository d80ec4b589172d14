/* Inputs of this project's own OpenMP kernels: the same numbers on any machine. Included by a driver, once. */
#ifndef MIRENC_INPUTS_H
#define MIRENC_INPUTS_H

#include "mirenc_measure.h"
#include <stdlib.h>
#include <string.h>

static unsigned long mirenc_state = 88172645463325252ul;

static inline unsigned long mirenc_random(void)
{
    mirenc_state ^= mirenc_state << 13;
    mirenc_state ^= mirenc_state >> 7;
    mirenc_state ^= mirenc_state << 17;
    return mirenc_state >> 11;
}

static inline void *mirenc_room(long bytes)
{
    void *room = aligned_alloc(64, (size_t)(bytes + 64) / 64 * 64);
    if (!room)
        exit(3);
    return room;
}

/* Numbers from 0.5 to 1.5. */
static inline double *doubles(long count)
{
    double *numbers = mirenc_room(count * (long)sizeof *numbers);
    for (long i = 0; i < count; i++)
        numbers[i] = 0.5 + (double)mirenc_random() * 0x1p-53;
    return numbers;
}

static inline float *floats(long count)
{
    float *numbers = mirenc_room(count * (long)sizeof *numbers);
    for (long i = 0; i < count; i++)
        numbers[i] = 0.5f + (float)(mirenc_random() >> 29) * 0x1p-24f;
    return numbers;
}

/* Numbers from 0 to 2^50. */
static inline long *longs(long count)
{
    long *numbers = mirenc_room(count * (long)sizeof *numbers);
    for (long i = 0; i < count; i++)
        numbers[i] = (long)(mirenc_random() >> 3);
    return numbers;
}

/* Numbers from 0 to below - 1. */
static inline int *ints(long count, long below)
{
    int *numbers = mirenc_room(count * (long)sizeof *numbers);
    for (long i = 0; i < count; i++)
        numbers[i] = (int)(mirenc_random() % (unsigned long)below);
    return numbers;
}

static inline unsigned char *bytes(long count, long below)
{
    unsigned char *numbers = mirenc_room(count);
    for (long i = 0; i < count; i++)
        numbers[i] = (unsigned char)(mirenc_random() % (unsigned long)below);
    return numbers;
}

enum row_order { MIXED, LONG_FIRST, LONG_LAST };

static inline int mirenc_longer_first(const void *left, const void *right)
{
    return *(const int *)right - *(const int *)left;
}

/* Where each row begins, and where the last one ends: lengths by a power law (a row of length l or more has a share
   of l^-1.5), `usual` entries on the average and a quarter of the rows at most. rows + 1 numbers. */
static inline int *row_starts(long rows, long usual, enum row_order order)
{
    int *length = mirenc_room((rows + 1) * (long)sizeof *length);
    int *start = mirenc_room((rows + 1) * (long)sizeof *start);
    for (long row = 0; row < rows; row++) {
        /* The power 2/3 of a share, by Newton's method: no library's last digit decides a length. */
        double share = ((double)mirenc_random() + 1) * 0x1p-53, root = 1;
        for (int step = 0; step < 60; step++)
            root = (2 * root + share * share / (root * root)) / 3;
        double wanted = (double)usual / 3 / (root > 1e-6 ? root : 1e-6);
        length[row] = wanted < (double)rows / 4 ? (int)wanted + 1 : (int)(rows / 4) + 1;
    }
    if (order != MIXED)
        qsort(length, (size_t)rows, sizeof *length, mirenc_longer_first);
    start[0] = 0;
    for (long row = 0; row < rows; row++)
        start[row + 1] = start[row] + length[order == LONG_LAST ? rows - 1 - row : row];
    free(length);
    return start;
}

/* Columns of each row, in ascending order, from 0 to below - 1. */
static inline int *ascending_columns(long rows, const int *start, long below)
{
    int *column = mirenc_room((start[rows] + 1) * (long)sizeof *column);
    for (long row = 0; row < rows; row++) {
        long length = start[row + 1] - start[row], gap = below / length > 0 ? below / length : 1;
        for (long k = 0; k < length; k++)
            column[start[row] + k] = (int)((k * gap + (long)(mirenc_random() % (unsigned long)gap)) % below);
    }
    return column;
}

static struct {
    void *data, *first;
    long count, size;
} mirenc_outputs[4];
static int mirenc_output_count;

/* `data` is an output of `count` elements; a reset puts back what it holds now. */
static inline int mirenc_keep(void *data, long count, long width)
{
    void *first = mirenc_room(count * width);
    memcpy(first, data, (size_t)(count * width));
    mirenc_outputs[mirenc_output_count].data = data;
    mirenc_outputs[mirenc_output_count].first = first;
    mirenc_outputs[mirenc_output_count].count = count;
    mirenc_outputs[mirenc_output_count++].size = count * width;
    return 0;
}
#define keep(data, count) mirenc_keep(data, count, (long)sizeof *(data))

void mirenc_reset(void)
{
    for (int i = 0; i < mirenc_output_count; i++)
        memcpy(mirenc_outputs[i].data, mirenc_outputs[i].first, (size_t)mirenc_outputs[i].size);
}

long mirenc_output(int index, void **data)
{
    if (index >= mirenc_output_count)
        return -1;
    *data = mirenc_outputs[index].data;
    return mirenc_outputs[index].count;
}

#endif
