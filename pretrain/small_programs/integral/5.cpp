#include <iostream>
#include <map>
#include <sstream>
#include <string>

// Term by term, with terms as an algebra of their own: an integral is a new sum of terms.
class Terms {
public:
    Terms &add(int exponent, long double factor)
    {
        factors[exponent] += factor;
        return *this;
    }

    Terms integral() const
    {
        Terms result;
        for (const auto &[exponent, factor] : factors)
            result.add(exponent + 1, factor / (exponent + 1));
        return result;
    }

    long double at(long double x) const
    {
        long double sum = 0;
        for (const auto &[exponent, factor] : factors)
            sum += factor * power(x, exponent);
        return sum;
    }

private:
    std::map<int, long double> factors;

    static long double power(long double x, int n)
    {
        if (n == 0)
            return 1;
        const long double half = power(x, n / 2);
        return n % 2 ? half * half * x : half * half;
    }
};

int main()
{
    std::ostringstream out;
    out.precision(4);
    out << std::fixed;
    long double a, b, c;
    int degree;
    while (std::cin >> a >> b >> degree) {
        Terms f;
        for (int k = 0; k <= degree && std::cin >> c; ++k)
            f.add(k, c);
        const Terms g = f.integral();
        out << g.at(b) - g.at(a) << '\n';
    }
    std::cout << out.str() << std::flush;
    return 0;
}
