/* pointwise: the price of an option, logarithms and exponentials. */
#include <math.h>

void options(long n, const double *price, const double *strike, double *worth)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        double spread = 0.3 * sqrt(2.0);
        double d1 = (log(price[i] / strike[i]) + 0.13) / spread, d2 = d1 - spread;
        worth[i] = price[i] * 0.5 * erfc(-d1 * 0.7071067811865476) -
                   strike[i] * exp(-0.04) * 0.5 * erfc(-d2 * 0.7071067811865476);
    }
}
