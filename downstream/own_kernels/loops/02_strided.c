// Elements that lie a step apart.
// STEPS: 2 | 3 | 4 | 5 | 6 | 7 | 8 | 16

// name: strided read
// weight: 4
// S: STEPS
// x: S * n
void kernel(T *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = x[S * i];
}

// name: strided write
// weight: 3
// S: STEPS
// out: S * n
void kernel(T *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++)
        out[S * i] = x[i] + 1;
}

// name: strided both
// weight: 3
// S: 2 | 3 | 4 | 6
// out: S * n
// x: S * n
void kernel(T *out, const T *x, I n)
{
    @for (I i = 0; i < S * n; i += S)
        out[i] = x[i] + x[i];
}

// name: strided in place
// weight: 3
// S: STEPS
// x: S * n
// a: 3
void kernel(T *x, T a, I n)
{
    @for (I i = 0; i < n; i++)
        x[i * S] = a - x[i * S];
}

// name: runtime stride read
// weight: 4
// S: 1 | 1 | 2 | 3 | 8 | 17
// x: S * n
// stride: S
void kernel(T *out, const T *x, I stride, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = x[i * stride] + 1;
}

// name: runtime stride write
// weight: 3
// S: 1 | 1 | 2 | 5
// out: S * n
// stride: S
void kernel(T *out, const T *x, I stride, I n)
{
    @for (I i = 0; i < n; i++)
        out[i * stride] = x[i] * x[i];
}

// name: reversed read
// weight: 4
void kernel(T *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = x[n - 1 - i] + 1;
}

// name: downward loop
// weight: 4
void kernel(T *out, const T *a, const T *b, J n)
{
    @for (J i = n - 1; i >= 0; i--)
        out[i] = a[i] + b[i];
}

// name: both ends
// weight: 3
void kernel(T *out, const T *a, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = a[i] + a[n - 1 - i];
}

// name: half index
// weight: 4
void kernel(T *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = x[i / 2] + x[i];
}

// name: doubling
// weight: 3
void kernel(T *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = x[i >> 1];
}

// name: index modulo
// weight: 3
// K: 3 | 4 | 8 | 10
// pattern: K
void kernel(T *out, const T *x, const T *pattern, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = x[i] + pattern[i % K];
}

// name: strided sum
// T: REDUCED
// weight: 4
// S: STEPS
// x: S * n
T kernel(const T *x, I n)
{
    T total = 0;
    @for (I i = 0; i < n; i++)
        total += x[S * i];
    return total;
}

// name: strided dot product
// T: REDUCED
// weight: 3
// S: 1 | 2 | 4
// P: 1 | 1 | 3
// a: S * n
// b: P * n
// step_a: S
// step_b: P
T kernel(const T *a, I step_a, const T *b, I step_b, I n)
{
    T total = 0;
    @for (I i = 0; i < n; i++)
        total += a[i * step_a] * b[i * step_b];
    return total;
}

// name: column of a matrix
// weight: 3
// W: 5 | 16 | 33 | 100
// matrix: W * n
// width: W
// column: W / 2
void kernel(T *out, const T *matrix, I width, I column, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = matrix[i * width + column];
}

// name: two strides
// weight: 3
// S: 2 | 3
// K: 3 | 4 | 5
// a: S * n
// b: K * n
void kernel(T *out, const T *a, const T *b, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = a[S * i] - b[K * i];
}

// name: every other kept
// weight: 3
// x: 2 * n
void kernel(T *x, I n)
{
    @for (I i = 0; i < n; i++)
        x[2 * i + 1] = x[2 * i];
}

// name: strided with widening
// T: WIDENING
// weight: 4
// S: 2 | 3 | 4
// x: S * n
void kernel(U *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = (U)x[S * i] + (U)1;
}

// name: second induction variable
// T: FLOATS | UNSIGNED
// weight: 3
// S: 2 | 3 | 5
// x: S * n
void kernel(T *out, const T *x, I n)
{
    I k = 0;
    @for (I i = 0; i < n; i++) {
        out[i] = x[k] + x[i];
        k += S;
    }
}

// name: pairwise sums
// T: ALL | WIDENING
// weight: 4
// x: 2 * n
void kernel(U *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = (U)x[2 * i] + (U)x[2 * i + 1];
}
