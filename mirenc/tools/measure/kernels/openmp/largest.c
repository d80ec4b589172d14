/* reduction: the largest and the least number. */
void largest(long n, const float *values, float *result)
{
    float top = values[0], low = values[0];
#pragma omp parallel for reduction(max : top) reduction(min : low)
    for (long i = 0; i < n; i++) {
        top = values[i] > top ? values[i] : top;
        low = values[i] < low ? values[i] : low;
    }
    result[0] = top;
    result[1] = low;
}
