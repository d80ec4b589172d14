#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

using namespace std;

// Simpson's rule that halves an interval where two estimates disagree.
typedef function<double(double)> Function;

static double rule(const Function &f, double a, double b) {
    return (b - a) / 6 * (f(a) + 4 * f((a + b) / 2) + f(b));
}

static double adaptive(const Function &f, double a, double b, double whole, double eps, int depth) {
    const double m = (a + b) / 2;
    const double left = rule(f, a, m), right = rule(f, m, b);
    const double error = left + right - whole;
    if (depth == 0 || fabs(error) < 15 * eps) return left + right + error / 15;
    return adaptive(f, a, m, left, eps / 2, depth - 1) + adaptive(f, m, b, right, eps / 2, depth - 1);
}

int main() {
    double a, b;
    int degree;
    while (scanf("%lf %lf %d", &a, &b, &degree) == 3) {
        vector<double> c(static_cast<size_t>(degree) + 1);
        for (auto &x : c) scanf("%lf", &x);
        auto f = [&c](double x) {
            double y = 0, power = 1;
            for (double k : c) {
                y += k * power;
                power *= x;
            }
            return y;
        };
        printf("%.4f\n", adaptive(f, a, b, rule(f, a, b), 1e-9, 30));
    }
    return 0;
}
