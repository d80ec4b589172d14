#include <iostream>
#include <map>
#include <numeric>
#include <string>
#include <utility>

// Exact fractions, and equations as maps from unknown to coefficient: each unknown is solved for and put in.
struct Fraction {
    long long top = 0, bottom = 1;

    Fraction(long long t = 0, long long b = 1)
    {
        const long long g = std::gcd(t, b);
        const long long sign = b < 0 ? -1 : 1;
        top = sign * t / g;
        bottom = sign * b / g;
    }
    friend Fraction operator*(Fraction a, Fraction b) { return {a.top * b.top, a.bottom * b.bottom}; }
    friend Fraction operator/(Fraction a, Fraction b) { return {a.top * b.bottom, a.bottom * b.top}; }
    friend Fraction operator-(Fraction a, Fraction b) { return {a.top * b.bottom - b.top * a.bottom, a.bottom * b.bottom}; }
    double value() const { return static_cast<double>(top) / static_cast<double>(bottom); }
};

using Equation = std::map<int, Fraction>; // -1 stands for the right side

static Equation without(int unknown, Equation from, const Equation &solved)
{
    const auto found = from.find(unknown);
    if (found == from.end())
        return from;
    const Fraction times = found->second / solved.at(unknown);
    for (const auto &[name, coefficient] : solved)
        from[name] = from[name] - times * coefficient;
    from.erase(unknown);
    return from;
}

int main()
{
    int n;
    std::cin >> n;
    std::map<int, Equation> system;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= n; ++j) {
            long long c;
            std::cin >> c;
            system[i][j == n ? -1 : j] = c;
        }
    for (int i = 0; i < n; ++i)
        for (auto &[other, equation] : system)
            if (other != i)
                equation = without(i, equation, system[i]);
    for (int i = 0; i < n; ++i)
        std::printf("%.3f\n", (system[i][-1] / system[i][i]).value());
}
