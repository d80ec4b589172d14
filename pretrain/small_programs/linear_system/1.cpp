#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <vector>

// Gauss and Jordan: each column is cleared above and below its pivot.
using Row = std::vector<double>;

static void subtract(Row &from, const Row &row, double factor)
{
    std::transform(from.begin(), from.end(), row.begin(), from.begin(),
                   [factor](double x, double y) { return x - factor * y; });
}

static void reduce(std::vector<Row> &rows)
{
    for (std::size_t c = 0; c < rows.size(); ++c) {
        auto pivot = std::max_element(rows.begin() + static_cast<long>(c), rows.end(), [c](const Row &p, const Row &q) {
            return std::abs(p[c]) < std::abs(q[c]);
        });
        std::iter_swap(rows.begin() + static_cast<long>(c), pivot);
        const double scale = rows[c][c];
        for (double &x : rows[c])
            x /= scale;
        for (std::size_t r = 0; r < rows.size(); ++r)
            if (r != c)
                subtract(rows[r], rows[c], rows[r][c]);
    }
}

int main()
{
    std::size_t n;
    std::cin >> n;
    std::vector<Row> rows(n, Row(n + 1));
    for (Row &row : rows)
        for (double &x : row)
            std::cin >> x;
    reduce(rows);
    std::cout << std::fixed << std::setprecision(3);
    for (const Row &row : rows)
        std::cout << row.back() << '\n';
}
