#include <iostream>
#include <iterator>
#include <set>
#include <string>
#include <unordered_map>

// A multiset of weights.
template <typename Weight>
class Merger {
public:
    template <typename Counts>
    explicit Merger(const Counts &counts)
    {
        for (const auto &[letter, count] : counts)
            weights.insert(count);
    }

    std::size_t size() const { return weights.size(); }

    Weight mergeAll()
    {
        if (weights.size() == 1)
            return *weights.begin();
        Weight bits{};
        while (weights.size() > 1) {
            const auto second = std::next(weights.begin());
            const Weight sum = *weights.begin() + *second;
            weights.erase(weights.begin(), std::next(second));
            weights.insert(sum);
            bits += sum;
        }
        return bits;
    }

private:
    std::multiset<Weight> weights;
};

int main()
{
    for (std::string line; std::getline(std::cin, line);) {
        std::unordered_map<char, unsigned> counts;
        for (char c : line)
            counts[c] += 1;
        Merger<unsigned> merger(counts);
        std::cout << merger.size() << " ";
        std::cout << merger.mergeAll() << std::endl;
    }
    return 0;
}
