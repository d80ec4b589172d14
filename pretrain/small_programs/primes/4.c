#include <stdint.h>
#include <stdio.h>

/* Miller and Rabin with bases that leave no doubt below 3 215 031 751. */

static uint64_t power(uint64_t base, uint64_t exponent, uint64_t modulus)
{
    uint64_t result = 1;
    for (base %= modulus; exponent > 0; exponent >>= 1) {
        if (exponent & 1)
            result = result * base % modulus;
        base = base * base % modulus;
    }
    return result;
}

static int witness(uint64_t a, uint64_t n)
{
    uint64_t odd = n - 1;
    int twos = 0;
    for (; odd % 2 == 0; odd /= 2)
        twos++;
    uint64_t x = power(a, odd, n);
    if (x == 1 || x == n - 1)
        return 0;
    while (--twos > 0) {
        x = x * x % n;
        if (x == n - 1)
            return 0;
    }
    return 1;
}

static int probably_prime(uint64_t n)
{
    static const uint64_t bases[] = {2, 3, 5, 7};
    if (n < 2)
        return 0;
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        if (n == bases[i])
            return 1;
        if (n % bases[i] == 0 || witness(bases[i], n))
            return 0;
    }
    return 1;
}

int main(void)
{
    unsigned low, high;
    while (scanf("%u %u", &low, &high) == 2) {
        unsigned long long sum = 0;
        unsigned count = 0, gap = 0, last = 0;
        for (unsigned n = low; n <= high; n++) {
            if (!probably_prime(n))
                continue;
            if (count > 0 && n - last > gap)
                gap = n - last;
            count++;
            sum += n;
            last = n;
        }
        printf("%u %llu %u\n", count, sum, gap);
    }
    return 0;
}
