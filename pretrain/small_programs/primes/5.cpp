#include <iostream>
#include <list>
#include <set>
#include <vector>

// Starts from all odd numbers and takes the multiples of each survivor out of an ordered set.
static std::set<long> survivors(long limit)
{
    std::set<long> left;
    if (limit >= 2)
        left.insert(2);
    for (long odd = 3; odd <= limit; odd += 2)
        left.insert(left.end(), odd);
    for (auto it = left.begin(); it != left.end() && *it * *it <= limit; ++it) {
        for (long multiple = *it * *it; multiple <= limit; multiple += *it)
            left.erase(multiple);
    }
    return left;
}

int main()
{
    std::vector<std::pair<long, long>> questions;
    long largest = 2;
    for (long a, b; std::cin >> a >> b;) {
        questions.emplace_back(a, b);
        largest = std::max(largest, b);
    }
    const auto primes = survivors(largest);
    for (const auto &question : questions) {
        auto from = primes.lower_bound(question.first);
        const auto to = primes.upper_bound(question.second);
        long n = 0, total = 0, gap = 0;
        for (auto before = to; from != to; before = from++) {
            if (before != to && *from - *before > gap)
                gap = *from - *before;
            total += *from;
            n++;
        }
        std::cout << n << " " << total << " " << gap << "\n";
    }
}
