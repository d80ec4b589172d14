#include <algorithm>
#include <iostream>
#include <numeric>
#include <string>

// Repeated addition of strings, with doubling: k * x by the bits of k.
static std::string add(std::string a, std::string b)
{
    if (a.size() < b.size())
        std::swap(a, b);
    b.insert(b.begin(), a.size() - b.size(), '0');
    std::string sum;
    int carry = 0;
    std::transform(a.rbegin(), a.rend(), b.rbegin(), std::back_inserter(sum), [&carry](char x, char y) {
        const int s = x - '0' + y - '0' + carry;
        carry = s / 10;
        return static_cast<char>('0' + s % 10);
    });
    if (carry)
        sum += '1';
    std::reverse(sum.begin(), sum.end());
    return sum;
}

static std::string scale(const std::string &x, unsigned k)
{
    if (k == 0) return "0";
    if (k == 1) return x;
    const std::string twice = scale(add(x, x), k / 2);
    return k % 2 ? add(twice, x) : twice;
}

static std::string factorial(unsigned n)
{
    return n < 2 ? std::string("1") : scale(factorial(n - 1), n);
}

int main()
{
    unsigned n;
    while (std::cin >> n) {
        const auto text = factorial(n);
        const int sum = std::accumulate(text.begin(), text.end(), 0, [](int s, char c) { return s + (c - '0'); });
        std::cout << text << ' ' << sum << std::endl;
    }
    return 0;
}
