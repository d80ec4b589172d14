#include <iostream>
#include <string>
#include <vector>

// The library's search, started again one place behind each hit.
std::vector<std::size_t> occurrences(const std::string &text, const std::string &pattern)
{
    std::vector<std::size_t> places;
    auto found = text.find(pattern);
    while (found != std::string::npos) {
        places.push_back(found);
        found = text.find(pattern, found + 1);
    }
    return places;
}

int main()
{
    std::string pattern;
    std::string text;
    std::cin >> pattern >> text;
    const auto places = occurrences(text, pattern);
    std::cout << places.size() << ' ';
    if (places.empty())
        std::cout << -1;
    else
        std::cout << places.front();
    std::cout << '\n';
}
