#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

// Romberg with one row kept; the input is taken line by line.
template <typename F>
double romberg(F f, double a, double b, double tolerance)
{
    std::vector<double> row{(b - a) / 2 * (f(a) + f(b))};
    for (int level = 1; level < 18; ++level) {
        const int points = 1 << (level - 1);
        const double h = (b - a) / (2 * points);
        double sum = 0;
        for (int i = 0; i < points; ++i)
            sum += f(a + (2 * i + 1) * h);
        std::vector<double> next{row.front() / 2 + h * sum};
        for (std::size_t k = 0; k < row.size(); ++k)
            next.push_back(next[k] + (next[k] - row[k]) / (std::pow(4.0, static_cast<double>(k + 1)) - 1));
        const bool settled = level > 3 && std::abs(next.back() - row.back()) < tolerance;
        row.swap(next);
        if (settled)
            break;
    }
    return row.back();
}

int main()
{
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream in(line);
        double a, b, c;
        int degree;
        in >> a >> b >> degree;
        std::vector<double> factors;
        while (in >> c)
            factors.push_back(c);
        const auto f = [&factors](double x) {
            double y = 0;
            for (auto it = factors.rbegin(); it != factors.rend(); ++it)
                y = std::fma(y, x, *it);
            return y;
        };
        std::cout << std::fixed << std::setprecision(4) << romberg(f, a, b, 1e-10) << std::endl;
    }
}
