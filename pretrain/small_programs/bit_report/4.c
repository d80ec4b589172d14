#include <stdint.h>
#include <stdio.h>

/* Recursion on halves: count, mirror and leading zeros of a word from those of its two halves. */

static unsigned count(uint32_t word, unsigned width)
{
    if (width == 1)
        return word;
    unsigned half = width / 2;
    uint32_t low = word & ((1u << half) - 1);
    return count(word >> half, half) + count(low, half);
}

static uint32_t mirror(uint32_t word, unsigned width)
{
    if (width == 1)
        return word;
    unsigned half = width / 2;
    uint32_t low = word & ((1u << half) - 1);
    return (mirror(low, half) << half) | mirror(word >> half, half);
}

static unsigned lead(uint32_t word, unsigned width)
{
    if (width == 1)
        return word == 0;
    unsigned half = width / 2;
    uint32_t high = word >> half;
    return high != 0 ? lead(high, half) : half + lead(word & ((1u << half) - 1), half);
}

int main(void)
{
    unsigned long long in;
    while (scanf("%llu", &in) == 1) {
        uint32_t word = (uint32_t)in;
        printf("%u ", count(word, 32));
        printf("%u ", (unsigned)mirror(word, 32));
        printf("%u\n", lead(word, 32));
    }
    return 0;
}
