#include <array>
#include <cmath>
#include <functional>
#include <iostream>
#include <utility>
#include <vector>

// Gauss and Legendre; nodes are found by Newton's method on the Legendre polynomial.
template <int Order>
class GaussRule {
    std::array<std::pair<double, double>, Order> points; // node, weight

    static std::pair<double, double> legendre(double x)
    {
        double before = 1, here = x;
        for (int k = 2; k <= Order; ++k)
            before = std::exchange(here, ((2 * k - 1) * x * here - (k - 1) * before) / k);
        return {here, Order * (x * here - before) / (x * x - 1)};
    }

public:
    GaussRule()
    {
        const double pi = std::acos(-1.0);
        for (int i = 0; i < Order; ++i) {
            double x = std::cos(pi * (i + 0.75) / (Order + 0.5));
            for (int step = 0; step < 20; ++step) {
                const auto [value, slope] = legendre(x);
                x -= value / slope;
            }
            const double slope = legendre(x).second;
            points[i] = {x, 2 / ((1 - x * x) * slope * slope)};
        }
    }

    double integrate(const std::function<double(double)> &f, double a, double b) const
    {
        double sum = 0;
        for (const auto &[node, weight] : points)
            sum += weight * f((a + b) / 2 + (b - a) / 2 * node);
        return sum * (b - a) / 2;
    }
};

int main()
{
    const GaussRule<12> rule;
    double a, b;
    std::cout.setf(std::ios::fixed);
    std::cout.precision(4);
    for (int degree; std::cin >> a >> b >> degree;) {
        std::vector<double> c(degree + 1);
        for (auto &value : c)
            std::cin >> value;
        std::cout << rule.integrate(
                         [&c](double x) {
                             double y = 0;
                             for (std::size_t k = c.size(); k-- > 0;)
                                 y = c[k] + x * y;
                             return y;
                         },
                         a, b)
                  << "\n";
    }
    return 0;
}
