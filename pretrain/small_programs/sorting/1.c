#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Merge sort, top down, with one scratch array for the whole run. */

static void merge(int *data, int *scratch, int low, int middle, int high)
{
    int left = low, right = middle, out = low;
    while (left < middle && right < high) {
        if (data[right] < data[left])
            scratch[out++] = data[right++];
        else
            scratch[out++] = data[left++];
    }
    while (left < middle)
        scratch[out++] = data[left++];
    while (right < high)
        scratch[out++] = data[right++];
    memcpy(data + low, scratch + low, (size_t)(high - low) * sizeof *data);
}

static void merge_sort(int *data, int *scratch, int low, int high)
{
    if (high - low < 2)
        return;
    int middle = low + (high - low) / 2;
    merge_sort(data, scratch, low, middle);
    merge_sort(data, scratch, middle, high);
    merge(data, scratch, low, middle, high);
}

int main(void)
{
    int count;
    if (scanf("%d", &count) != 1)
        return 1;
    int *data = malloc((size_t)count * sizeof *data);
    int *scratch = malloc((size_t)count * sizeof *scratch);
    for (int i = 0; i < count; i++)
        scanf("%d", &data[i]);
    merge_sort(data, scratch, 0, count);
    for (int i = 0; i < count; i++)
        printf("%d%c", data[i], i + 1 < count ? ' ' : '\n');
    free(scratch);
    free(data);
    return 0;
}
