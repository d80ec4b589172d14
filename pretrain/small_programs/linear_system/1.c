#include <math.h>
#include <stdio.h>

/* Solves A x = b: n, then n rows of n coefficients and the right side. Gaussian elimination with partial pivoting. */

#define MAX 20

static double a[MAX][MAX + 1];

static void swap_rows(int i, int j, int n)
{
    for (int k = 0; k <= n; k++) {
        double t = a[i][k];
        a[i][k] = a[j][k];
        a[j][k] = t;
    }
}

static void eliminate(int n)
{
    for (int column = 0; column < n; column++) {
        int pivot = column;
        for (int row = column + 1; row < n; row++)
            if (fabs(a[row][column]) > fabs(a[pivot][column]))
                pivot = row;
        swap_rows(column, pivot, n);
        for (int row = column + 1; row < n; row++) {
            double factor = a[row][column] / a[column][column];
            for (int k = column; k <= n; k++)
                a[row][k] -= factor * a[column][k];
        }
    }
}

int main(void)
{
    int n;
    double x[MAX];

    scanf("%d", &n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= n; j++)
            scanf("%lf", &a[i][j]);
    eliminate(n);
    for (int i = n - 1; i >= 0; i--) {
        x[i] = a[i][n];
        for (int j = i + 1; j < n; j++)
            x[i] -= a[i][j] * x[j];
        x[i] /= a[i][i];
    }
    for (int i = 0; i < n; i++)
        printf("%.3f\n", x[i]);
    return 0;
}
