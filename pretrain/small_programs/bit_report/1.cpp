#include <algorithm>
#include <bitset>
#include <cstdint>
#include <iostream>
#include <string>

// std::bitset counts ones; its text, read from both ends, gives the rest.
// A character that is no number is an error.
int main()
{
    std::uint32_t number;
    while (std::cin >> number) {
        const std::bitset<32> bits(number);
        std::string text = bits.to_string();
        const auto first_one = std::find(text.begin(), text.end(), '1');
        const auto zeros = std::distance(text.begin(), first_one);
        std::reverse(text.begin(), text.end());
        std::cout << bits.count() << ' ' << std::bitset<32>(text).to_ulong() << ' ' << zeros << '\n';
    }
    if (!std::cin.eof()) {
        std::cerr << "not a number\n";
        return 1;
    }
    return 0;
}
