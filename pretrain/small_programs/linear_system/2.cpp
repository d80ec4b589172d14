#include <cstdio>
#include <iostream>
#include <numeric>
#include <vector>

using namespace std;

// LU by Doolittle, stored in place, as a class that can solve for any right side.
template <class T>
class LU {
    size_t n;
    vector<T> m;

public:
    LU(size_t size, vector<T> entries) : n(size), m(std::move(entries)) {
        for (size_t k = 0; k < n; k++)
            for (size_t i = k + 1; i < n; i++) {
                T f = at(i, k) /= at(k, k);
                for (size_t j = k + 1; j < n; j++) at(i, j) -= f * at(k, j);
            }
    }
    T &at(size_t i, size_t j) { return m[i * n + j]; }

    vector<T> solve(vector<T> y) {
        for (size_t i = 0; i < n; i++)
            y[i] -= inner_product(y.begin(), y.begin() + static_cast<long>(i), &at(i, 0), T(0));
        for (size_t i = n; i-- > 0;) {
            for (size_t j = i + 1; j < n; j++) y[i] -= at(i, j) * y[j];
            y[i] /= at(i, i);
        }
        return y;
    }
};

int main() {
    size_t n;
    cin >> n;
    vector<double> entries, right(n);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            double x;
            cin >> x;
            entries.push_back(x);
        }
        cin >> right[i];
    }
    LU<double> lu(n, entries);
    for (double x : lu.solve(right)) printf("%.3f\n", x);
    return 0;
}
