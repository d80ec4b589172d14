#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

// Three-way quicksort: smaller, equal, larger.
template <class T, class Less>
std::vector<T> quick(const std::vector<T> &in, Less less)
{
    if (in.size() <= 1)
        return in;
    const T pivot = in[in.size() / 2];
    std::vector<T> small, same, big;
    for (const T &item : in) {
        if (less(item, pivot))
            small.push_back(item);
        else if (less(pivot, item))
            big.push_back(item);
        else
            same.push_back(item);
    }
    std::vector<T> result = quick(small, less);
    const std::vector<T> tail = quick(big, less);
    result.insert(result.end(), same.begin(), same.end());
    result.insert(result.end(), tail.begin(), tail.end());
    return result;
}

} // namespace

int main()
{
    int howMany;
    std::cin >> howMany;
    std::vector<int> numbers(static_cast<std::size_t>(howMany));
    for (auto &number : numbers)
        std::cin >> number;
    std::ostringstream line;
    for (int number : quick(numbers, [](int a, int b) { return a < b; }))
        line << number << " ";
    std::string text = line.str();
    if (!text.empty())
        text.pop_back();
    std::cout << text << "\n";
}
