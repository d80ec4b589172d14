#include <functional>
#include <iostream>
#include <map>
#include <numeric>
#include <string>
#include <vector>

// Orders as entries of a map from word to action.
int main()
{
    std::size_t count;
    std::cin >> count;
    std::vector<long> values(count);
    for (long &value : values)
        std::cin >> value;

    const std::map<std::string, std::function<void(long, long)>> actions = {
        {"set", [&values](long place, long value) { values.at(place - 1) = value; }},
        {"sum",
         [&values](long from, long to) {
             std::cout << std::accumulate(values.begin() + from - 1, values.begin() + to, 0L) << '\n';
         }},
    };

    int orders;
    std::cin >> orders;
    for (std::string word; orders-- > 0 && std::cin >> word;) {
        long a, b;
        std::cin >> a >> b;
        actions.at(word)(a, b);
    }
}
