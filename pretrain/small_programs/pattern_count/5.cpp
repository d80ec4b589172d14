#include <algorithm>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

// A suffix array: suffixes that start with the pattern stand side by side.
class SuffixArray {
public:
    explicit SuffixArray(const std::string &text) : text_(text), order_(text.size())
    {
        std::iota(order_.begin(), order_.end(), 0);
        std::sort(order_.begin(), order_.end(), [this](std::size_t a, std::size_t b) {
            return text_.compare(a, std::string::npos, text_, b, std::string::npos) < 0;
        });
    }

    auto range(const std::string &word) const
    {
        const auto size = word.size();
        auto low = std::lower_bound(order_.begin(), order_.end(), word, [&](std::size_t at, const std::string &w) {
            return text_.compare(at, size, w) < 0;
        });
        auto high = std::upper_bound(low, order_.end(), word, [&](const std::string &w, std::size_t at) {
            return text_.compare(at, size, w) > 0;
        });
        return std::make_pair(low, high);
    }

private:
    const std::string &text_;
    std::vector<std::size_t> order_;
};

int main()
{
    std::string word, text;
    std::cin >> word >> text;
    const SuffixArray suffixes(text);
    const auto [low, high] = suffixes.range(word);
    std::cout << std::distance(low, high) << " ";
    if (low == high)
        std::cout << "-1\n";
    else
        std::cout << *std::min_element(low, high) << "\n";
}
