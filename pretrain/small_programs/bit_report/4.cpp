#include <cmath>
#include <iostream>
#include <iterator>
#include <numeric>
#include <vector>

// Arithmetic instead of bit operators: digits to base two, polynomial evaluation, a logarithm.
static std::vector<int> binary_digits(unsigned long value)
{
    std::vector<int> digits;
    for (; value > 0; value /= 2)
        digits.push_back(static_cast<int>(value % 2));
    return digits;
}

struct Report {
    int ones;
    unsigned long reversed;
    int leading;

    explicit Report(unsigned long value)
    {
        auto digits = binary_digits(value);
        leading = value == 0 ? 32 : 31 - static_cast<int>(std::floor(std::log2(static_cast<double>(value))));
        ones = std::accumulate(digits.begin(), digits.end(), 0);
        digits.resize(32);
        reversed = std::accumulate(digits.begin(), digits.end(), 0UL,
                                   [](unsigned long sum, int digit) { return 2 * sum + digit; });
    }
};

std::ostream &operator<<(std::ostream &out, const Report &r)
{
    return out << r.ones << ' ' << r.reversed << ' ' << r.leading;
}

int main()
{
    std::istream_iterator<unsigned long> in(std::cin), end;
    std::vector<Report> reports(in, end);
    std::copy(reports.begin(), reports.end(), std::ostream_iterator<Report>(std::cout, "\n"));
}
