/* spectrum: the transform by its definition, a sine and a cosine a term. */
#include <math.h>

void slow_fourier(long n, const double *signal, double *power)
{
#pragma omp parallel for
    for (long k = 0; k < n; k++) {
        double re = 0, im = 0;
        for (long t = 0; t < n; t++) {
            double angle = 6.283185307179586 * (double)(k * t % n) / n;
            re += signal[t] * cos(angle);
            im -= signal[t] * sin(angle);
        }
        power[k] = re * re + im * im;
    }
}
