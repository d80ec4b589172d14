#include <stdio.h>
#include <string.h>

// Recursion with a memory of what was asked before. Answers are pairs, packed as value * 4096 - weight.

static int n;
static int weights[64], values[64];
static long memo[64][2048];
static char known[64][2048];

static long solve(int item, int room)
{
	if (item == n)
		return 0;
	if (known[item][room])
		return memo[item][room];
	long answer = solve(item + 1, room);
	if (weights[item] <= room) {
		long taken = solve(item + 1, room - weights[item]) + values[item] * 4096L - weights[item];
		if (taken > answer)
			answer = taken;
	}
	known[item][room] = 1;
	return memo[item][room] = answer;
}

int main(void)
{
	int room;

	scanf("%d %d", &n, &room);
	for (int i = 0; i < n; i++)
		scanf("%d %d", weights + i, values + i);
	long answer = solve(0, room);
	long value = (answer + 4095) / 4096;
	printf("%ld %ld\n", value, value * 4096 - answer);
	return 0;
}
