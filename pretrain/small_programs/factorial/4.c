#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Binary limbs while multiplying; decimal only at the end, by dividing through ten again and again. */

enum { LIMBS = 200 };

typedef struct {
    uint32_t limb[LIMBS];
    int count;
} Natural;

static void multiply(Natural *x, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < x->count; i++) {
        carry += (uint64_t)x->limb[i] * factor;
        x->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0)
        x->limb[x->count++] = (uint32_t)carry;
}

static uint32_t divide_by_ten(Natural *x)
{
    uint64_t rest = 0;
    for (int i = x->count - 1; i >= 0; i--) {
        rest = rest << 32 | x->limb[i];
        x->limb[i] = (uint32_t)(rest / 10);
        rest %= 10;
    }
    while (x->count > 0 && x->limb[x->count - 1] == 0)
        x->count--;
    return (uint32_t)rest;
}

int main(void)
{
    unsigned n;
    while (scanf("%u", &n) == 1) {
        Natural x = {{1}, 1};
        char text[2048];
        int at = (int)sizeof text - 1, sum = 0;
        for (unsigned k = 2; k <= n; k++)
            multiply(&x, k);
        text[at] = '\0';
        while (x.count > 0) {
            uint32_t digit = divide_by_ten(&x);
            text[--at] = (char)('0' + digit);
            sum += (int)digit;
        }
        printf("%s %d\n", text + at, sum);
    }
    return 0;
}
