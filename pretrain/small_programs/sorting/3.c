#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Radix sort, one byte at a time. The sign bit is flipped so that negative numbers come first.

enum { RADIX = 256 };

static void pass(const uint32_t *from, uint32_t *to, size_t n, unsigned shift)
{
	size_t start[RADIX + 1] = {0};

	for (size_t i = 0; i < n; ++i)
		++start[((from[i] >> shift) & 0xff) + 1];
	for (int digit = 0; digit < RADIX; ++digit)
		start[digit + 1] += start[digit];
	for (size_t i = 0; i < n; ++i)
		to[start[(from[i] >> shift) & 0xff]++] = from[i];
}

int main(void)
{
	size_t n;

	if (scanf("%zu", &n) != 1)
		return EXIT_FAILURE;

	uint32_t *keys = calloc(n + 1, sizeof(uint32_t));
	uint32_t *spare = calloc(n + 1, sizeof(uint32_t));

	for (size_t i = 0; i < n; ++i) {
		int32_t value;
		scanf("%d", &value);
		keys[i] = (uint32_t)value ^ 0x80000000u;
	}
	for (unsigned shift = 0; shift < 32; shift += 16) {
		pass(keys, spare, n, shift);
		pass(spare, keys, n, shift + 8);
	}
	for (size_t i = 0; i < n; ++i)
		printf("%d ", (int32_t)(keys[i] ^ 0x80000000u));
	putchar('\n');
	free(keys);
	free(spare);
	return EXIT_SUCCESS;
}
