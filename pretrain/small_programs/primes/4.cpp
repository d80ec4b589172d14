#include <algorithm>
#include <bitset>
#include <cmath>
#include <iostream>
#include <memory>
#include <vector>

// Segments of fixed size over the wanted range only; small primes from a sieve of the root.
template <std::size_t Size>
class Segments {
public:
    Segments(long low, long high) : low_(std::max(low, 2L)), high_(high)
    {
        const long root = static_cast<long>(std::sqrt(static_cast<double>(high))) + 1;
        for (long n = 2; n <= root; ++n)
            if (std::none_of(small_.begin(), small_.end(), [n](long p) { return n % p == 0; }))
                small_.push_back(n);
    }

    template <typename Visitor>
    void visit(Visitor visitor) const
    {
        const auto block = std::make_unique<std::bitset<Size>>();
        for (long start = low_; start <= high_; start += Size) {
            const long stop = std::min<long>(high_, start + Size - 1);
            block->reset();
            for (long p : small_)
                for (long m = std::max(p * p, (start + p - 1) / p * p); m <= stop; m += p)
                    block->set(m - start);
            for (long n = start; n <= stop; ++n)
                if (!block->test(n - start))
                    visitor(n);
        }
    }

private:
    long low_, high_;
    std::vector<long> small_;
};

int main()
{
    long low, high;
    while (std::cin >> low >> high) {
        struct {
            long count = 0, sum = 0, last = 0, gap = 0;
        } seen;
        Segments<512>(low, high).visit([&seen](long prime) {
            if (seen.count > 0)
                seen.gap = std::max(seen.gap, prime - seen.last);
            ++seen.count;
            seen.sum += prime;
            seen.last = prime;
        });
        std::cout << seen.count << ' ' << seen.sum << ' ' << seen.gap << '\n';
    }
}
