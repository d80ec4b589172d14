#include <stdio.h>
#include <stdlib.h>

/* Prime numbers between two bounds: how many, their sum, and the widest gap. Sieve of Eratosthenes. */

static char *sieve(long limit)
{
    char *composite = calloc((size_t)limit + 1, 1);
    composite[0] = 1;
    if (limit >= 1)
        composite[1] = 1;
    for (long p = 2; p * p <= limit; p++) {
        if (composite[p])
            continue;
        for (long multiple = p * p; multiple <= limit; multiple += p)
            composite[multiple] = 1;
    }
    return composite;
}

int main(void)
{
    long low, high;
    while (scanf("%ld %ld", &low, &high) == 2) {
        char *composite = sieve(high);
        long count = 0, sum = 0, last = -1, widest = 0;
        for (long n = low; n <= high; n++) {
            if (composite[n])
                continue;
            count++;
            sum += n;
            if (last >= 0 && n - last > widest)
                widest = n - last;
            last = n;
        }
        printf("%ld %ld %ld\n", count, sum, widest);
        free(composite);
    }
    return 0;
}
