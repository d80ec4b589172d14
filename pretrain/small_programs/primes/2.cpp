#include <algorithm>
#include <cstdio>
#include <vector>

using namespace std;

// Trial division by the primes known so far; the list grows as it is needed.
class PrimeList {
    vector<long> known{2, 3};

public:
    bool contains(long n) {
        if (n < 2) return false;
        growTo(n);
        return none_of(known.begin(), upper_bound(known.begin(), known.end(), root(n)),
                       [n](long p) { return n % p == 0; });
    }

private:
    static long root(long n) {
        long r = 1;
        while ((r + 1) * (r + 1) <= n) r++;
        return r;
    }

    void growTo(long n) {
        for (long c = known.back() + 2; known.back() * known.back() < n; c += 2) {
            bool divided = false;
            for (size_t i = 0; known[i] * known[i] <= c && !divided; i++) divided = c % known[i] == 0;
            if (!divided) known.push_back(c);
        }
    }
};

int main() {
    long a, b;
    PrimeList primes;
    while (scanf("%ld %ld", &a, &b) == 2) {
        long count = 0, sum = 0, gap = 0, last = 0;
        for (long n = a; n <= b; n++) {
            if (!primes.contains(n)) continue;
            if (count++) gap = max(gap, n - last);
            last = n;
            sum += n;
        }
        printf("%ld %ld %ld\n", count, sum, gap);
    }
}
