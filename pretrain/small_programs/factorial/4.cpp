#include <iostream>
#include <numeric>
#include <string>
#include <vector>

// Product of a range by halves, so that factors of like size meet; schoolbook product of digit vectors.
using Number = std::vector<int>; // digits, low first

static Number operator*(const Number &a, const Number &b)
{
    Number out(a.size() + b.size(), 0);
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < b.size(); ++j)
            out[i + j] += a[i] * b[j];
    for (std::size_t i = 0; i + 1 < out.size(); ++i) {
        out[i + 1] += out[i] / 10;
        out[i] %= 10;
    }
    while (out.size() > 1 && out.back() == 0)
        out.pop_back();
    return out;
}

static Number from(int value)
{
    Number digits;
    do {
        digits.push_back(value % 10);
        value /= 10;
    } while (value > 0);
    return digits;
}

static Number range_product(int low, int high)
{
    if (low > high) return from(1);
    if (low == high) return from(low);
    const int middle = (low + high) / 2;
    return range_product(low, middle) * range_product(middle + 1, high);
}

int main()
{
    for (int n; std::cin >> n;) {
        const Number f = range_product(2, n);
        std::string text;
        for (auto it = f.crbegin(); it != f.crend(); ++it)
            text.push_back(static_cast<char>('0' + *it));
        std::cout << text << ' ' << std::accumulate(f.begin(), f.end(), 0) << '\n';
    }
}
