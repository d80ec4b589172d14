#include <stdint.h>
#include <stdio.h>
#include <string.h>

// Bit-parallel: one word of 64 columns at a time, carry from word to word.

#define WORDS 16

static int lcs(const unsigned char *a, const unsigned char *b)
{
	static uint64_t where[256][WORDS];
	uint64_t row[WORDS];
	size_t n = strlen((const char *)a);
	int length = 0;

	memset(where, 0, sizeof where);
	memset(row, 0xff, sizeof row);
	for (size_t i = 0; i < n; i++)
		where[a[i]][i / 64] |= (uint64_t)1 << (i % 64);
	for (; *b; b++) {
		uint64_t carry = 0;
		for (int w = 0; w < WORDS; w++) {
			uint64_t hit = row[w] & where[*b][w];
			uint64_t sum = row[w] + hit;
			uint64_t out = sum < row[w];
			sum += carry;
			out |= sum < carry;
			row[w] = sum | (row[w] & ~hit);
			carry = out;
		}
	}
	for (size_t i = 0; i < n; i++)
		length += !(row[i / 64] >> (i % 64) & 1);
	return length;
}

int main(void)
{
	unsigned char a[64 * WORDS + 1], b[4096];

	while (scanf("%1024s", (char *)a) == 1 && scanf("%4095s", (char *)b) == 1) {
		int common = lcs(a, b);
		size_t total = strlen((char *)a) + strlen((char *)b);
		printf("%d %zu\n", common, total - 2 * (size_t)common);
	}
	return 0;
}
