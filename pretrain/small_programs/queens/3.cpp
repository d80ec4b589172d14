#include <algorithm>
#include <iostream>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

// Every permutation has one queen a row and a column; only diagonals are left to look at.
static bool peaceful(const std::vector<int> &p)
{
    std::set<int> sums, differences;
    for (std::size_t i = 0; i < p.size(); ++i) {
        const int row = static_cast<int>(i);
        if (!sums.insert(p[i] + row).second || !differences.insert(p[i] - row).second)
            return false;
    }
    return true;
}

static std::string join(const std::vector<int> &numbers)
{
    std::ostringstream out;
    for (int number : numbers)
        out << ' ' << number;
    return out.str();
}

int main()
{
    int n;
    while (std::cin >> n) {
        std::vector<int> p(n);
        std::iota(p.begin(), p.end(), 1);
        long good = 0;
        std::string example;
        do {
            if (peaceful(p)) {
                if (good == 0)
                    example = join(p);
                ++good;
            }
        } while (std::next_permutation(p.begin(), p.end()));
        std::cout << good << ":" << example << "\n";
    }
    return 0;
}
