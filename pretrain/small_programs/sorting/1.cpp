#include <algorithm>
#include <iostream>
#include <iterator>
#include <vector>

// Merge sort on iterators; the halves are copied out and merged back.
template <typename Iter>
void mergeSort(Iter first, Iter last)
{
    const auto length = std::distance(first, last);
    if (length < 2) {
        return;
    }
    Iter middle = std::next(first, length / 2);
    mergeSort(first, middle);
    mergeSort(middle, last);

    using Value = typename std::iterator_traits<Iter>::value_type;
    std::vector<Value> left(first, middle);
    std::vector<Value> right(middle, last);
    auto l = left.begin();
    auto r = right.begin();
    for (Iter out = first; out != last; ++out) {
        const bool takeLeft = r == right.end() || (l != left.end() && !(*r < *l));
        *out = takeLeft ? *l++ : *r++;
    }
}

int main()
{
    std::size_t count = 0;
    std::cin >> count;
    std::vector<int> values;
    values.reserve(count);
    std::copy_n(std::istream_iterator<int>(std::cin), count, std::back_inserter(values));
    mergeSort(values.begin(), values.end());
    std::copy(values.begin(), values.end(), std::ostream_iterator<int>(std::cout, " "));
    std::cout << '\n';
}
