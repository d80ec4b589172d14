#include <algorithm>
#include <array>
#include <iostream>

template <std::size_t Max>
class AllPairs {
public:
    static constexpr int unreachable = 1 << 29;

    explicit AllPairs(std::size_t nodes) : nodes_(nodes)
    {
        for (auto &row : table_)
            row.fill(unreachable);
        for (std::size_t i = 0; i < nodes; ++i)
            table_[i][i] = 0;
    }

    void addArc(std::size_t a, std::size_t b, int length) { table_[a][b] = std::min(table_[a][b], length); }

    void solve()
    {
        for (std::size_t k = 0; k < nodes_; ++k)
            for (std::size_t i = 0; i < nodes_; ++i)
                for (std::size_t j = 0; j < nodes_; ++j)
                    table_[i][j] = std::min(table_[i][j], table_[i][k] + table_[k][j]);
    }

    const std::array<int, Max> &row(std::size_t i) const { return table_[i]; }

private:
    std::size_t nodes_;
    std::array<std::array<int, Max>, Max> table_{};
};

int main()
{
    std::size_t nodes = 0, arcs = 0;
    std::cin >> nodes >> arcs;
    AllPairs<80> pairs(nodes);
    for (std::size_t i = 0; i < arcs; ++i) {
        std::size_t a, b;
        int length;
        std::cin >> a >> b >> length;
        pairs.addArc(a - 1, b - 1, length);
    }
    pairs.solve();
    for (std::size_t i = 0; i < nodes; ++i) {
        const int d = pairs.row(0)[i];
        std::cout << (d >= AllPairs<80>::unreachable ? -1 : d) << "\n";
    }
}
