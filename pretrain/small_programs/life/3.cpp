#include <iostream>
#include <map>
#include <set>
#include <string>
#include <utility>

// Only living cells are kept, as a set of places.
using Cell = std::pair<int, int>;

static std::set<Cell> evolve(const std::set<Cell> &alive, int rows, int columns)
{
    std::map<Cell, int> heat;
    for (const auto &[r, c] : alive)
        for (int dr : {-1, 0, 1})
            for (int dc : {-1, 0, 1})
                if (dr || dc)
                    ++heat[{(r + dr + rows) % rows, (c + dc + columns) % columns}];
    std::set<Cell> born;
    for (const auto &[cell, n] : heat)
        if (n == 3 || (n == 2 && alive.count(cell)))
            born.insert(born.end(), cell);
    return born;
}

int main()
{
    int rows, columns, generations;
    std::cin >> rows >> columns >> generations;
    std::set<Cell> alive;
    for (int r = 0; r < rows; ++r) {
        std::string line;
        std::cin >> line;
        for (int c = 0; c < columns; ++c)
            if (line[c] == '#')
                alive.emplace(r, c);
    }
    for (int g = 0; g < generations; ++g)
        alive = evolve(alive, rows, columns);
    for (int r = 0; r < rows; ++r) {
        std::string line(columns, '.');
        for (auto it = alive.lower_bound({r, 0}); it != alive.end() && it->first == r; ++it)
            line[it->second] = '#';
        std::cout << line << "\n";
    }
    std::cout << alive.size() << std::endl;
    return 0;
}
