#include <stdio.h>
#include <stdlib.h>

/* Cramer's rule; determinants by expansion along the first row. For small systems only. */

static double determinant(double **m, int n)
{
    if (n == 1)
        return m[0][0];
    if (n == 2)
        return m[0][0] * m[1][1] - m[0][1] * m[1][0];
    double sum = 0;
    double **minor = malloc(sizeof(double *) * (size_t)(n - 1));
    for (int r = 1; r < n; r++)
        minor[r - 1] = malloc(sizeof(double) * (size_t)(n - 1));
    for (int skip = 0; skip < n; skip++) {
        for (int r = 1; r < n; r++)
            for (int c = 0, to = 0; c < n; c++)
                if (c != skip)
                    minor[r - 1][to++] = m[r][c];
        double part = m[0][skip] * determinant(minor, n - 1);
        sum += skip % 2 ? -part : part;
    }
    for (int r = 1; r < n; r++)
        free(minor[r - 1]);
    free(minor);
    return sum;
}

int main(void)
{
    int n;
    scanf("%d", &n);
    double **m = malloc(sizeof(double *) * (size_t)n), *right = malloc(sizeof(double) * (size_t)n);
    for (int r = 0; r < n; r++) {
        m[r] = malloc(sizeof(double) * (size_t)n);
        for (int c = 0; c < n; c++)
            scanf("%lf", &m[r][c]);
        scanf("%lf", &right[r]);
    }
    double whole = determinant(m, n);
    for (int unknown = 0; unknown < n; unknown++) {
        double saved[16];
        for (int r = 0; r < n; r++) {
            saved[r] = m[r][unknown];
            m[r][unknown] = right[r];
        }
        printf("%.3f\n", determinant(m, n) / whole);
        for (int r = 0; r < n; r++)
            m[r][unknown] = saved[r];
    }
    for (int r = 0; r < n; r++)
        free(m[r]);
    free(m);
    free(right);
    return 0;
}
