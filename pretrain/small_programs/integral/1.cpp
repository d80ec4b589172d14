#include <iomanip>
#include <iostream>
#include <iterator>
#include <numeric>
#include <vector>

class Polynomial {
public:
    explicit Polynomial(std::vector<double> coefficients) : coefficients_(std::move(coefficients)) {}

    double operator()(double x) const
    {
        return std::accumulate(coefficients_.rbegin(), coefficients_.rend(), 0.0,
                               [x](double sum, double c) { return sum * x + c; });
    }

    Polynomial integrated() const
    {
        std::vector<double> higher{0.0};
        for (std::size_t k = 0; k < coefficients_.size(); ++k)
            higher.push_back(coefficients_[k] / static_cast<double>(k + 1));
        return Polynomial(higher);
    }

private:
    std::vector<double> coefficients_;
};

int main()
{
    std::cout << std::fixed << std::setprecision(4);
    double from, to;
    int degree;
    while (std::cin >> from >> to >> degree) {
        std::vector<double> coefficients(degree + 1);
        for (double &c : coefficients)
            std::cin >> c;
        const Polynomial whole = Polynomial(coefficients).integrated();
        std::cout << whole(to) - whole(from) << '\n';
    }
}
