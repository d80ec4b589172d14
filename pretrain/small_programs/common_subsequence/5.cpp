#include <deque>
#include <iostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

// A shortest path: matches cost nothing, skipping a letter costs one. Breadth first with a deque.
struct Spot {
    std::size_t i, j;
    int cost;
};

static int cheapest(const std::string &a, const std::string &b)
{
    std::vector<std::vector<bool>> done(a.size() + 1, std::vector<bool>(b.size() + 1));
    std::deque<Spot> open{{0, 0, 0}};
    for (;;) {
        const Spot s = open.front();
        open.pop_front();
        if (done[s.i][s.j])
            continue;
        done[s.i][s.j] = true;
        if (s.i == a.size() && s.j == b.size())
            return s.cost;
        if (s.i < a.size() && s.j < b.size() && a[s.i] == b[s.j])
            open.push_front({s.i + 1, s.j + 1, s.cost});
        if (s.i < a.size())
            open.push_back({s.i + 1, s.j, s.cost + 1});
        if (s.j < b.size())
            open.push_back({s.i, s.j + 1, s.cost + 1});
    }
}

int main()
{
    std::string first, second;
    while (std::cin >> first) {
        std::cin >> second;
        const int cost = cheapest(first, second);
        const int letters = static_cast<int>(first.size() + second.size());
        std::cout << (letters - cost) / 2 << ' ' << cost << '\n';
    }
    return 0;
}
