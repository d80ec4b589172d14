#include <algorithm>
#include <iostream>
#include <string>
#include <unordered_map>
#include <vector>

// Matches as pairs in an order in which chains of them are increasing second members.
static std::vector<int> second_members(const std::string &a, const std::string &b)
{
    std::unordered_map<char, std::vector<int>> places;
    for (int j = static_cast<int>(b.size()) - 1; j >= 0; --j)
        places[b[static_cast<std::size_t>(j)]].push_back(j);
    std::vector<int> members;
    for (char c : a) {
        const auto found = places.find(c);
        if (found != places.end())
            members.insert(members.end(), found->second.begin(), found->second.end());
    }
    return members;
}

template <typename T>
std::size_t longest_increasing(const std::vector<T> &values)
{
    std::vector<T> tails;
    for (const T &value : values) {
        const auto it = std::lower_bound(tails.begin(), tails.end(), value);
        if (it == tails.end())
            tails.push_back(value);
        else
            *it = value;
    }
    return tails.size();
}

int main()
{
    std::string a, b;
    while (std::cin >> a >> b) {
        const std::size_t common = longest_increasing(second_members(a, b));
        std::cout << common << " " << (a.size() - common) + (b.size() - common) << "\n";
    }
}
