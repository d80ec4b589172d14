#include <stdio.h>

/* Integral of a polynomial: from, to, degree, coefficients (constant first). By its antiderivative. */

#define MAX_DEGREE 20

static double antiderivative(const double *coefficient, int degree, double x)
{
    double sum = 0;
    double power = x;
    for (int k = 0; k <= degree; k++) {
        sum += coefficient[k] * power / (k + 1);
        power *= x;
    }
    return sum;
}

int main(void)
{
    double from, to;
    int degree;
    while (scanf("%lf %lf %d", &from, &to, &degree) == 3) {
        double coefficient[MAX_DEGREE + 1];
        for (int k = 0; k <= degree; k++)
            scanf("%lf", &coefficient[k]);
        double upper = antiderivative(coefficient, degree, to);
        double lower = antiderivative(coefficient, degree, from);
        printf("%.4f\n", upper - lower);
    }
    return 0;
}
