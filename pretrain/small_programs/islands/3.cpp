#include <algorithm>
#include <iostream>
#include <queue>
#include <set>
#include <string>
#include <utility>

// All land in a set; an island is what a queue can reach, and leaves the set.
using Field = std::pair<int, int>;

static std::size_t remove_island(std::set<Field> &land)
{
    std::queue<Field> border;
    auto take = [&](const Field &field) {
        auto found = land.find(field);
        if (found == land.end())
            return;
        border.push(*found);
        land.erase(found);
    };
    std::size_t size = 0;
    take(*land.begin());
    while (!border.empty()) {
        const auto [x, y] = border.front();
        border.pop();
        ++size;
        take({x + 1, y});
        take({x - 1, y});
        take({x, y + 1});
        take({x, y - 1});
    }
    return size;
}

int main()
{
    int height, width;
    std::cin >> height >> width;
    std::set<Field> land;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            char c;
            std::cin >> c;
            if (c == '#')
                land.insert({x, y});
        }
    int islands = 0;
    std::size_t largest = 0;
    for (; !land.empty(); ++islands)
        largest = std::max(largest, remove_island(land));
    std::cout << islands << " " << largest << "\n";
}
