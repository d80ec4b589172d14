#include <algorithm>
#include <functional>
#include <iostream>
#include <iterator>
#include <numeric>
#include <vector>

// Sums of three by rotating whole arrays: three rows, then three columns of those sums.
using Grid = std::vector<std::vector<int>>;

template <typename Sequence>
Sequence rotated(Sequence s, bool forward)
{
    std::rotate(s.begin(), forward ? std::prev(s.end()) : std::next(s.begin()), s.end());
    return s;
}

static std::vector<int> plus(const std::vector<int> &a, const std::vector<int> &b)
{
    std::vector<int> sum(a.size());
    std::transform(a.begin(), a.end(), b.begin(), sum.begin(), std::plus<>());
    return sum;
}

static Grid next(const Grid &g)
{
    const Grid up = rotated(g, true), down = rotated(g, false);
    Grid result;
    for (std::size_t r = 0; r < g.size(); ++r) {
        const auto column = plus(plus(up[r], g[r]), down[r]);
        const auto block = plus(plus(rotated(column, true), column), rotated(column, false));
        std::vector<int> row(block.size());
        // A block counts its middle, too: 3 lives on in any case, 4 only around a living cell.
        std::transform(block.begin(), block.end(), g[r].begin(), row.begin(),
                       [](int sum, int self) { return sum == 3 || (sum == 4 && self) ? 1 : 0; });
        result.push_back(std::move(row));
    }
    return result;
}

int main()
{
    std::size_t rows, columns;
    int times;
    std::cin >> rows >> columns >> times;
    Grid grid(rows, std::vector<int>(columns));
    for (auto &row : grid)
        std::generate(row.begin(), row.end(), [] { return *std::istream_iterator<char>(std::cin) == '#'; });
    for (; times > 0; --times)
        grid = next(grid);
    int total = 0;
    for (const auto &row : grid) {
        std::transform(row.begin(), row.end(), std::ostream_iterator<char>(std::cout),
                       [](int cell) { return cell ? '#' : '.'; });
        std::cout << '\n';
        total = std::accumulate(row.begin(), row.end(), total);
    }
    std::cout << total << '\n';
}
