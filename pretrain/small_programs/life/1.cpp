#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

class World {
public:
    World(std::istream &in, int rows, int columns) : rows_(rows), columns_(columns), cells_(rows)
    {
        for (auto &line : cells_)
            in >> line;
    }

    void step()
    {
        auto next = cells_;
        for (int r = 0; r < rows_; ++r) {
            for (int c = 0; c < columns_; ++c) {
                const int n = around(r, c);
                next[r][c] = n == 3 || (n == 2 && alive(r, c)) ? '#' : '.';
            }
        }
        cells_.swap(next);
    }

    long population() const
    {
        long total = 0;
        for (const auto &line : cells_)
            total += std::count(line.begin(), line.end(), '#');
        return total;
    }

    friend std::ostream &operator<<(std::ostream &out, const World &world)
    {
        for (const auto &line : world.cells_)
            out << line << '\n';
        return out;
    }

private:
    int rows_, columns_;
    std::vector<std::string> cells_;

    bool alive(int r, int c) const { return cells_[(r + rows_) % rows_][(c + columns_) % columns_] == '#'; }

    int around(int r, int c) const
    {
        int n = -static_cast<int>(alive(r, c));
        for (int y = r - 1; y <= r + 1; ++y)
            for (int x = c - 1; x <= c + 1; ++x)
                n += alive(y, x);
        return n;
    }
};

int main()
{
    int rows, columns, generations;
    std::cin >> rows >> columns >> generations;
    World world(std::cin, rows, columns);
    while (generations-- > 0)
        world.step();
    std::cout << world << world.population() << '\n';
}
