#include <cstdint>
#include <cstdio>
#include <type_traits>

// Masks that a template works out for any width; each level swaps or adds groups of Step bits.
template <typename T, unsigned Step>
constexpr T mask() {
    T m = 0;
    for (unsigned i = 0; i < sizeof(T) * 8; i += 2 * Step) m |= ((T(1) << Step) - 1) << i;
    return m;
}

template <typename T, unsigned Step = 1>
constexpr T swapped(T v) {
    if constexpr (Step == sizeof(T) * 8)
        return v;
    else
        return swapped<T, 2 * Step>(((v >> Step) & mask<T, Step>()) | ((v & mask<T, Step>()) << Step));
}

template <typename T, unsigned Step = 1>
constexpr T summed(T v) {
    if constexpr (Step == sizeof(T) * 8)
        return v;
    else
        return summed<T, 2 * Step>((v & mask<T, Step>()) + ((v >> Step) & mask<T, Step>()));
}

template <typename T>
constexpr T leading(T v) {
    for (unsigned step = 1; step < sizeof(T) * 8; step *= 2) v |= v >> step;
    return summed<T>(static_cast<T>(~v));
}

int main() {
    static_assert(swapped<std::uint32_t>(1) == 0x80000000u, "lowest bit becomes highest");
    std::uint32_t v;
    while (std::scanf("%u", &v) == 1) std::printf("%u %u %u\n", summed(v), swapped(v), leading(v));
    return 0;
}
