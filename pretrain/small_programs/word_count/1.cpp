#include <algorithm>
#include <cctype>
#include <iostream>
#include <iterator>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

static std::string cleaned(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
        return std::isalpha(c) ? static_cast<char>(std::tolower(c)) : ' ';
    });
    return text;
}

static std::vector<std::string> split(const std::string &text)
{
    std::vector<std::string> words;
    std::size_t start = text.find_first_not_of(' ');
    while (start != std::string::npos) {
        const std::size_t stop = std::min(text.find(' ', start), text.size());
        words.push_back(text.substr(start, stop - start));
        start = text.find_first_not_of(' ', stop);
    }
    return words;
}

int main()
{
    std::unordered_map<std::string, int> counts;
    std::string line;
    while (std::getline(std::cin, line))
        for (const std::string &word : split(cleaned(line)))
            ++counts[word];
    std::vector<std::pair<std::string, int>> order(counts.begin(), counts.end());
    const auto shown = std::min<std::size_t>(5, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<long>(shown), order.end(),
                      [](const auto &a, const auto &b) {
                          return a.second != b.second ? a.second > b.second : a.first < b.first;
                      });
    for (std::size_t i = 0; i < shown; ++i)
        std::cout << order[i].first << ' ' << order[i].second << '\n';
}
