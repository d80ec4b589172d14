#include <stdint.h>
#include <stdio.h>

/* For each 32-bit number: bits set, the number with its bits reversed, leading zeros. One bit after the other. */

static int count_bits(uint32_t x)
{
    int count = 0;
    while (x != 0) {
        count += x & 1;
        x >>= 1;
    }
    return count;
}

static uint32_t reverse_bits(uint32_t x)
{
    uint32_t reversed = 0;
    for (int i = 0; i < 32; i++) {
        reversed = reversed << 1 | (x & 1);
        x >>= 1;
    }
    return reversed;
}

static int leading_zeros(uint32_t x)
{
    int zeros = 0;
    for (uint32_t mask = 0x80000000u; mask != 0 && (x & mask) == 0; mask >>= 1)
        zeros++;
    return zeros;
}

int main(void)
{
    uint32_t number;
    while (scanf("%u", &number) == 1)
        printf("%d %u %d\n", count_bits(number), reverse_bits(number), leading_zeros(number));
    return 0;
}
