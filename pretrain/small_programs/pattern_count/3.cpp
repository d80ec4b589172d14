#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>

// Polynomial hash modulo 2^64, kept as a value with its own operations.
struct RollingHash {
    static constexpr std::uint64_t base = 1099511628211ULL;
    std::uint64_t value = 0;
    std::uint64_t top = 1;

    explicit RollingHash(std::string_view window)
    {
        for (char c : window)
            value = value * base + static_cast<unsigned char>(c);
        for (std::size_t i = 1; i < window.size(); ++i)
            top *= base;
    }

    void slide(char out, char in)
    {
        value -= top * static_cast<unsigned char>(out);
        value = value * base + static_cast<unsigned char>(in);
    }

    bool operator==(const RollingHash &other) const { return value == other.value; }
};

int main()
{
    std::string needle, hay;
    std::cin >> needle >> hay;
    int count = 0;
    long first = -1;
    if (needle.size() <= hay.size()) {
        const std::string_view view(hay);
        const RollingHash wanted(needle);
        RollingHash window(view.substr(0, needle.size()));
        for (std::size_t i = 0;; ++i) {
            if (window == wanted && view.substr(i, needle.size()) == needle) {
                ++count;
                if (first < 0) first = static_cast<long>(i);
            }
            if (i + needle.size() == hay.size()) break;
            window.slide(hay[i], hay[i + needle.size()]);
        }
    }
    std::cout << count << ' ' << first << '\n';
    return 0;
}
