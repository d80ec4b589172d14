/* uneven: primes by trial division, larger ones take longer. */
void primes(long n, long *result)
{
    long found = 0;
#pragma omp parallel for reduction(+ : found)
    for (long i = 2; i < n; i++) {
        int prime = 1;
        for (long by = 2; by * by <= i && prime; by++)
            prime = i % by != 0;
        found += prime;
    }
    result[0] = found;
}
