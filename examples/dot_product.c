// A reduction: without -ffast-math its additions keep their order, so the loop stays scalar.
double dot_product(int n, const double *x, const double *y) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i)
        sum += x[i] * y[i];
    return sum;
}
