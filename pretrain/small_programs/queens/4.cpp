#include <algorithm>
#include <iostream>
#include <list>
#include <vector>

// Breadth first: all safe beginnings of length k become those of length k + 1.
using Rows = std::vector<int>;

struct Safe {
    const Rows &rows;
    bool operator()(int column) const
    {
        int apart = static_cast<int>(rows.size());
        return std::all_of(rows.begin(), rows.end(), [&](int other) {
            const bool fine = other != column && other + apart != column && other - apart != column;
            --apart;
            return fine;
        });
    }
};

static std::list<Rows> extend(const std::list<Rows> &beginnings, int size)
{
    std::list<Rows> longer;
    for (const Rows &rows : beginnings) {
        const Safe safe{rows};
        for (int column = 1; column <= size; ++column) {
            if (!safe(column))
                continue;
            longer.push_back(rows);
            longer.back().push_back(column);
        }
    }
    return longer;
}

int main()
{
    int size;
    while (std::cin >> size) {
        std::list<Rows> all(1);
        for (int row = 0; row < size; ++row)
            all = extend(all, size);
        std::cout << all.size() << ':';
        if (!all.empty())
            for (int column : all.front())
                std::cout << ' ' << column;
        std::cout << std::endl;
    }
}
