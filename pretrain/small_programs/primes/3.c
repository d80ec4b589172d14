#include <stdio.h>
#include <stdlib.h>

// Linear sieve: every composite is struck once, by its smallest prime factor.

struct sieve {
	int *smallest;
	int *primes;
	int count;
};

static void run(struct sieve *s, int limit)
{
	s->smallest = calloc((size_t)limit + 1, sizeof(int));
	s->primes = malloc(((size_t)limit + 1) * sizeof(int));
	s->count = 0;
	for (int i = 2; i <= limit; i++) {
		if (s->smallest[i] == 0) {
			s->smallest[i] = i;
			s->primes[s->count++] = i;
		}
		for (int j = 0; j < s->count; j++) {
			int p = s->primes[j];
			if (p > s->smallest[i] || (long)p * i > limit)
				break;
			s->smallest[p * i] = p;
		}
	}
}

static int first_at_least(const struct sieve *s, int bound)
{
	int low = 0, high = s->count;

	while (low < high) {
		int middle = (low + high) >> 1;
		if (s->primes[middle] < bound)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int main(void)
{
	int from, to;

	while (scanf("%d %d", &from, &to) == 2) {
		struct sieve s;
		long sum = 0;
		int gap = 0;

		run(&s, to);
		int start = first_at_least(&s, from);
		for (int i = start; i < s.count; i++) {
			sum += s.primes[i];
			if (i > start && s.primes[i] - s.primes[i - 1] > gap)
				gap = s.primes[i] - s.primes[i - 1];
		}
		printf("%d %ld %d\n", s.count - start, sum, gap);
		free(s.primes);
		free(s.smallest);
	}
	return 0;
}
