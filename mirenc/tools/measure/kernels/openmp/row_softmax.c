/* dense: each row to shares that sum to 1. */
#include <math.h>

void row_softmax(long n, const float *scores, float *shares)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        const float *row = scores + i * 64;
        float top = row[0], sum = 0;
        for (int j = 1; j < 64; j++)
            top = row[j] > top ? row[j] : top;
        for (int j = 0; j < 64; j++)
            sum += shares[i * 64 + j] = expf(row[j] - top);
        for (int j = 0; j < 64; j++)
            shares[i * 64 + j] /= sum;
    }
}
