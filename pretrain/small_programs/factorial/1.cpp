#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

// Limbs of nine decimal digits, least significant first.
class BigNatural {
public:
    explicit BigNatural(std::uint32_t value) : limbs{value} {}

    BigNatural &operator*=(std::uint32_t factor)
    {
        std::uint64_t carry = 0;
        for (auto &limb : limbs) {
            carry += static_cast<std::uint64_t>(limb) * factor;
            limb = static_cast<std::uint32_t>(carry % base);
            carry /= base;
        }
        if (carry != 0)
            limbs.push_back(static_cast<std::uint32_t>(carry));
        return *this;
    }

    std::string str() const
    {
        std::ostringstream out;
        out << limbs.back();
        std::for_each(limbs.rbegin() + 1, limbs.rend(),
                      [&out](std::uint32_t limb) { out << std::setw(9) << std::setfill('0') << limb; });
        return out.str();
    }

private:
    static constexpr std::uint32_t base = 1000000000;
    std::vector<std::uint32_t> limbs;
};

int main()
{
    for (std::uint32_t n; std::cin >> n;) {
        BigNatural product(1);
        for (std::uint32_t k = 2; k <= n; ++k)
            product *= k;
        const std::string digits = product.str();
        int sum = 0;
        for (char digit : digits)
            sum += digit - '0';
        std::cout << digits << ' ' << sum << '\n';
    }
}
