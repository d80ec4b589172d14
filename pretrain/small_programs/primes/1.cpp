#include <algorithm>
#include <iostream>
#include <numeric>
#include <vector>

// Sieve of Eratosthenes in a vector<bool>, results by the standard algorithms.
class Sieve {
public:
    explicit Sieve(long limit) : prime_(limit + 1, true)
    {
        std::fill_n(prime_.begin(), std::min<long>(2, limit + 1), false);
        for (long p = 2; p * p <= limit; ++p)
            if (prime_[p])
                strike(p);
    }

    std::vector<long> between(long low, long high) const
    {
        std::vector<long> found;
        for (long n = low; n <= high; ++n)
            if (prime_[n])
                found.push_back(n);
        return found;
    }

private:
    std::vector<bool> prime_;

    void strike(long p)
    {
        for (std::size_t multiple = p * p; multiple < prime_.size(); multiple += p)
            prime_[multiple] = false;
    }
};

int main()
{
    for (long low, high; std::cin >> low >> high;) {
        const auto primes = Sieve(high).between(low, high);
        const long sum = std::accumulate(primes.begin(), primes.end(), 0L);
        std::vector<long> gaps(primes.size());
        std::adjacent_difference(primes.begin(), primes.end(), gaps.begin());
        const long widest = gaps.size() < 2 ? 0 : *std::max_element(gaps.begin() + 1, gaps.end());
        std::cout << primes.size() << ' ' << sum << ' ' << widest << '\n';
    }
}
