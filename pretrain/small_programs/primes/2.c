/* trial division */
#include <stdio.h>

int isPrime(long n) {
  long d;
  if (n < 2) return 0;
  if (n % 2 == 0) return n == 2;
  if (n % 3 == 0) return n == 3;
  for (d = 5; d * d <= n; d += 6) {
    if (n % d == 0) return 0;
    if (n % (d + 2) == 0) return 0;
  }
  return 1;
}

int main() {
  long a, b, i;
  while (scanf("%ld%ld", &a, &b) == 2) {
    long cnt = 0, sum = 0, gap = 0, prev = 0;
    for (i = a; i <= b; i++) {
      if (!isPrime(i)) continue;
      if (cnt && i - prev > gap) gap = i - prev;
      prev = i;
      cnt++;
      sum += i;
    }
    printf("%ld %ld %ld\n", cnt, sum, gap);
  }
  return 0;
}
