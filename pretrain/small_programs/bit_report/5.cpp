#include <cstdint>
#include <iostream>
#include <limits>
#include <set>
#include <sstream>
#include <string>

// A number as the set of the places of its ones.
class Places {
    std::set<int> ones;

public:
    explicit Places(std::uint32_t value)
    {
        while (value != 0) {
            ones.insert(__builtin_ctz(value));
            value &= value - 1;
        }
    }

    std::size_t size() const { return ones.size(); }
    int leading() const { return ones.empty() ? 32 : 31 - *ones.rbegin(); }

    std::uint32_t mirrored() const
    {
        std::uint32_t value = 0;
        for (int place : ones)
            value ^= std::uint32_t{1} << (31 - place);
        return value;
    }
};

int main()
{
    std::string token;
    std::ostringstream out;
    while (std::cin >> token) {
        const auto parsed = std::stoul(token);
        if (parsed > std::numeric_limits<std::uint32_t>::max())
            return 2;
        const Places places(static_cast<std::uint32_t>(parsed));
        out << places.size() << " " << places.mirrored() << " " << places.leading() << "\n";
    }
    std::cout << out.str();
    return 0;
}
