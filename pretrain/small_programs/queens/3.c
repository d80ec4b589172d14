#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// No recursion: an array of columns is counted up like the digits of a number, with jumps where queens meet.

static bool conflict(const int *queen, int row)
{
	for (int r = 0; r < row; r++) {
		int apart = queen[row] - queen[r];
		if (apart == 0 || apart == row - r || apart == r - row)
			return true;
	}
	return false;
}

int main(void)
{
	int n;

	while (scanf("%d", &n) == 1) {
		int queen[20] = {0}, saved[20];
		unsigned long solutions = 0;
		int row = 0;

		queen[0] = -1;
		while (row >= 0) {
			do {
				queen[row]++;
			} while (queen[row] < n && conflict(queen, row));
			if (queen[row] == n) {
				row--;
			} else if (row == n - 1) {
				if (solutions++ == 0)
					memcpy(saved, queen, sizeof saved);
			} else {
				queen[++row] = -1;
			}
		}
		printf("%lu:", solutions);
		if (solutions)
			for (int i = 0; i < n; i++)
				printf(" %d", saved[i] + 1);
		putchar('\n');
	}
	return 0;
}
