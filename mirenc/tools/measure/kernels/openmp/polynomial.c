/* pointwise: a polynomial of degree 12 at each point. */
void polynomial(long n, const double *factors, const double *x, double *y)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        double sum = 0;
        for (int k = 12; k >= 0; k--)
            sum = sum * x[i] + factors[k];
        y[i] = sum;
    }
}
