#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

// Memoised recursion on the ends of both words.
class Problem {
public:
    Problem(std::string_view a, std::string_view b) : a(a), b(b) {}

    int solve() { return solve(0, 0); }

private:
    std::string_view a, b;
    std::map<std::pair<std::size_t, std::size_t>, int> solved;

    int solve(std::size_t i, std::size_t j)
    {
        if (i == a.size() || j == b.size())
            return 0;
        const auto [place, fresh] = solved.try_emplace({i, j}, 0);
        if (!fresh)
            return place->second;
        int result;
        if (a[i] == b[j])
            result = 1 + solve(i + 1, j + 1);
        else
            result = std::max(solve(i + 1, j), solve(i, j + 1));
        solved[{i, j}] = result;
        return result;
    }
};

int main()
{
    for (std::string one, two; std::cin >> one >> two;) {
        const int length = Problem(one, two).solve();
        const auto edits = static_cast<int>(one.length() + two.length()) - 2 * length;
        std::cout << length << " " << edits << std::endl;
    }
    return 0;
}
