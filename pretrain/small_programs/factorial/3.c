#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Strings of digits, multiplied by strings of digits as on paper.

static char *multiply(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);
	char *r = calloc(la + lb + 1, 1);

	memset(r, '0', la + lb);
	for (size_t i = la; i-- > 0;) {
		int carry = 0;
		for (size_t j = lb; j-- > 0;) {
			int t = (a[i] - '0') * (b[j] - '0') + (r[i + j + 1] - '0') + carry;
			r[i + j + 1] = (char)('0' + t % 10);
			carry = t / 10;
		}
		r[i] = (char)(r[i] + carry);
	}
	if (r[0] == '0')
		memmove(r, r + 1, la + lb);
	return r;
}

int main(void)
{
	int n;

	while (scanf("%d", &n) == 1) {
		char *f = calloc(2, 1);
		f[0] = '1';
		for (int i = 2; i <= n; i++) {
			char text[16];
			snprintf(text, sizeof text, "%d", i);
			char *next = multiply(f, text);
			free(f);
			f = next;
		}
		int sum = 0;
		for (const char *p = f; *p; p++)
			sum += *p - '0';
		printf("%s %d\n", f, sum);
		free(f);
	}
	return 0;
}
