#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// Rabin and Karp: a rolling hash, and a comparison where hashes agree.

#define BASE 257u
#define MODULUS 1000003u

static uint64_t hash(const char *s, size_t n)
{
	uint64_t h = 0;

	for (size_t i = 0; i < n; i++)
		h = (h * BASE + (unsigned char)s[i]) % MODULUS;
	return h;
}

int main(void)
{
	static char needle[2048], hay[32768];
	uint64_t drop = 1;
	unsigned count = 0;
	ptrdiff_t first = -1;

	scanf("%2047s", needle);
	scanf("%32767s", hay);
	size_t m = strlen(needle), n = strlen(hay);
	if (m > n) {
		puts("0 -1");
		return 0;
	}
	for (size_t i = 1; i < m; i++)
		drop = drop * BASE % MODULUS;
	uint64_t target = hash(needle, m), rolling = hash(hay, m);
	for (size_t i = 0;; i++) {
		if (rolling == target && memcmp(hay + i, needle, m) == 0) {
			if (first < 0)
				first = (ptrdiff_t)i;
			count++;
		}
		if (i + m >= n)
			break;
		rolling = (rolling + MODULUS - drop * (unsigned char)hay[i] % MODULUS) % MODULUS;
		rolling = (rolling * BASE + (unsigned char)hay[i + m]) % MODULUS;
	}
	printf("%u %td\n", count, first);
	return 0;
}
