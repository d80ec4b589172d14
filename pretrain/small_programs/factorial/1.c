#include <stdio.h>

/* n! for every n of the input: one decimal digit an element, lowest first. Prints the digits and their sum. */

#define MAX_DIGITS 3000

static int digits[MAX_DIGITS];

static int multiply(int used, int factor)
{
    int carry = 0;
    for (int i = 0; i < used; i++) {
        int product = digits[i] * factor + carry;
        digits[i] = product % 10;
        carry = product / 10;
    }
    while (carry > 0) {
        digits[used++] = carry % 10;
        carry /= 10;
    }
    return used;
}

int main(void)
{
    int n;
    while (scanf("%d", &n) == 1) {
        int used = 1, sum = 0;
        digits[0] = 1;
        for (int factor = 2; factor <= n; factor++)
            used = multiply(used, factor);
        for (int i = used - 1; i >= 0; i--) {
            putchar('0' + digits[i]);
            sum += digits[i];
        }
        printf(" %d\n", sum);
    }
    return 0;
}
