#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

template <typename Sequence>
std::vector<std::vector<int>> lengths(const Sequence &a, const Sequence &b)
{
    std::vector<std::vector<int>> best(a.size() + 1, std::vector<int>(b.size() + 1, 0));
    for (std::size_t i = a.size(); i-- > 0;)
        for (std::size_t j = b.size(); j-- > 0;)
            best[i][j] = a[i] == b[j] ? 1 + best[i + 1][j + 1] : std::max(best[i + 1][j], best[i][j + 1]);
    return best;
}

// Walks the table and collects the subsequence itself; its size is what is printed.
static std::string subsequence(const std::string &a, const std::string &b)
{
    const auto best = lengths(a, b);
    std::string common;
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
        if (a[i] == b[j]) {
            common += a[i];
            ++i;
            ++j;
        } else if (best[i + 1][j] >= best[i][j + 1]) {
            ++i;
        } else {
            ++j;
        }
    }
    return common;
}

int main()
{
    std::string a, b;
    while (std::cin >> a >> b) {
        const std::string common = subsequence(a, b);
        std::cout << common.size() << ' ' << a.size() + b.size() - 2 * common.size() << '\n';
    }
}
