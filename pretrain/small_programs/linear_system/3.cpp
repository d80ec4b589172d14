#include <cmath>
#include <iomanip>
#include <iostream>
#include <valarray>
#include <vector>

// Jacobi iteration on valarrays: all unknowns at once from the values before.
using Vector = std::valarray<double>;

static double dot(const Vector &a, const Vector &b)
{
    return (a * b).sum();
}

int main()
{
    std::size_t n;
    std::cin >> n;
    std::vector<Vector> rows(n, Vector(n));
    Vector right(n), diagonal(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (auto &entry : rows[i])
            std::cin >> entry;
        std::cin >> right[i];
        diagonal[i] = rows[i][i];
        rows[i][i] = 0;
    }
    Vector x(0.0, n);
    double change = 1;
    for (int round = 0; change > 1e-13 && round < 5000; ++round) {
        Vector next = right;
        for (std::size_t i = 0; i < n; ++i)
            next[i] -= dot(rows[i], x);
        next /= diagonal;
        change = std::abs(next - x).max();
        x = next;
    }
    std::cout << std::fixed << std::setprecision(3);
    for (double value : x)
        std::cout << value << std::endl;
    return 0;
}
