/* memory: numbers taken from anywhere. */
void gather(long n, const int *from, const double *values, double *taken)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        taken[i] = values[from[i]];
}
