#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <vector>

// QR by Givens rotations: each turns two rows until one entry is zero.
class Matrix {
    std::size_t columns;
    std::vector<double> data;

public:
    Matrix(std::size_t rows, std::size_t columns) : columns(columns), data(rows * columns) {}
    double *operator[](std::size_t row) { return data.data() + row * columns; }

    void rotate(std::size_t upper, std::size_t lower, std::size_t pivot)
    {
        double *u = (*this)[upper], *l = (*this)[lower];
        const double r = std::hypot(u[pivot], l[pivot]);
        if (r == 0)
            return;
        const double c = u[pivot] / r, s = l[pivot] / r;
        for (std::size_t k = 0; k < columns; ++k) {
            const double top = c * u[k] + s * l[k];
            l[k] = c * l[k] - s * u[k];
            u[k] = top;
        }
    }
};

int main()
{
    std::size_t n;
    if (std::scanf("%zu", &n) != 1)
        return 1;
    Matrix m(n, n + 1);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= n; ++j)
            std::scanf("%lf", &m[i][j]);
    for (std::size_t j = 0; j < n; ++j)
        for (std::size_t i = j + 1; i < n; ++i)
            m.rotate(j, i, j);
    std::vector<double> x(n);
    const std::function<double(std::size_t)> unknown = [&](std::size_t i) {
        double rest = m[i][n];
        for (std::size_t j = i + 1; j < n; ++j)
            rest -= m[i][j] * x[j];
        return rest / m[i][i];
    };
    for (std::size_t i = n; i-- > 0;)
        x[i] = unknown(i);
    for (double value : x)
        std::printf("%.3f\n", value);
    return 0;
}
