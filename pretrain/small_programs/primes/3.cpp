#include <iostream>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

// An endless generator: a queue holds the next multiple of each prime found so far.
class Generator {
    using Multiple = std::pair<long, long>; // next multiple, its prime
    std::priority_queue<Multiple, std::vector<Multiple>, std::greater<Multiple>> crossed;
    long candidate = 1;

public:
    long next()
    {
        for (;;) {
            ++candidate;
            if (crossed.empty() || crossed.top().first > candidate)
                break;
            while (crossed.top().first == candidate) {
                Multiple m = crossed.top();
                crossed.pop();
                m.first += m.second;
                crossed.push(m);
            }
        }
        crossed.emplace(candidate * candidate, candidate);
        return candidate;
    }
};

int main()
{
    long low, high;
    while (std::cin >> low >> high) {
        Generator generator;
        long count = 0, total = 0, gap = 0, previous = 0;
        for (long p = generator.next(); p <= high; p = generator.next()) {
            if (p < low)
                continue;
            ++count;
            total += p;
            if (previous != 0)
                gap = std::max(gap, p - previous);
            previous = p;
        }
        std::cout << count << " " << total << " " << gap << std::endl;
    }
    return 0;
}
