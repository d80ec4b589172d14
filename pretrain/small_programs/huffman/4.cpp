#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

// Groups of letters: merging two groups makes the code of each of their letters one bit longer.
struct Group {
    long weight;
    std::string letters;
};

std::map<char, int> codeLengths(const std::map<char, long> &counts)
{
    std::vector<Group> groups;
    std::map<char, int> length;
    for (const auto &[letter, count] : counts) {
        groups.push_back({count, std::string(1, letter)});
        length[letter] = counts.size() == 1 ? 1 : 0;
    }
    auto heavier = [](const Group &a, const Group &b) { return a.weight > b.weight; };
    while (groups.size() > 1) {
        std::sort(groups.begin(), groups.end(), heavier);
        Group last = std::move(groups.back());
        groups.pop_back();
        groups.back().weight += last.weight;
        groups.back().letters += last.letters;
        for (char letter : groups.back().letters)
            ++length[letter];
    }
    return length;
}

} // namespace

int main()
{
    std::string text;
    while (std::getline(std::cin, text)) {
        std::map<char, long> counts;
        for (char letter : text)
            ++counts[letter];
        long bits = 0;
        const auto lengths = codeLengths(counts);
        for (char letter : text)
            bits += lengths.at(letter);
        std::cout << lengths.size() << ' ' << bits << '\n';
    }
}
