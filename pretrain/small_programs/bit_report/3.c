#include <stdio.h>
#include <stdlib.h>

// Tables of all bytes, made once.

static unsigned char ones[256], mirror[256], zeros[256];

static void make_tables(void)
{
	zeros[0] = 8;
	for (int byte = 1; byte < 256; byte++) {
		ones[byte] = (unsigned char)(ones[byte / 2] + byte % 2);
		mirror[byte] = (unsigned char)(mirror[byte / 2] / 2 + (byte % 2) * 128);
		zeros[byte] = (unsigned char)(zeros[byte / 2] - 1);
	}
}

int main(void)
{
	char line[64];

	make_tables();
	while (fgets(line, sizeof line, stdin)) {
		unsigned long value = strtoul(line, NULL, 10);
		unsigned char part[4];
		unsigned long back = 0;
		int set = 0, lead = 0;

		for (int i = 0; i < 4; i++) {
			part[i] = (unsigned char)(value >> (8 * i));
			set += ones[part[i]];
			back = back * 256 + mirror[part[i]];
		}
		for (int i = 3; i >= 0; i--) {
			lead += zeros[part[i]];
			if (part[i])
				break;
		}
		printf("%d %lu %d\n", set, back, lead);
	}
	return 0;
}
