#include <array>
#include <cstdint>
#include <iostream>

// Tables of half-bytes that the compiler fills.
struct Tables {
    std::array<int, 16> ones{};
    std::array<std::uint32_t, 16> mirror{};
    std::array<int, 16> zeros{};

    constexpr Tables()
    {
        zeros[0] = 4;
        for (std::size_t i = 1; i < 16; ++i) {
            ones[i] = ones[i / 2] + static_cast<int>(i % 2);
            mirror[i] = mirror[i / 2] / 2 + (i % 2) * 8;
            zeros[i] = zeros[i / 2] - 1;
        }
    }
};

static constexpr Tables tables;

template <typename Function>
static void each_nibble(std::uint32_t value, Function f)
{
    for (int shift = 28; shift >= 0; shift -= 4)
        f((value >> shift) & 15u, shift);
}

int main()
{
    for (std::uint32_t value; std::cin >> value;) {
        int ones = 0, zeros = 0;
        std::uint32_t mirrored = 0;
        bool leading = true;
        each_nibble(value, [&](std::size_t nibble, int shift) {
            ones += tables.ones[nibble];
            mirrored |= tables.mirror[nibble] << (28 - shift);
            if (leading)
                zeros += tables.zeros[nibble];
            leading = leading && nibble == 0;
        });
        std::cout << ones << " " << mirrored << " " << zeros << std::endl;
    }
}
