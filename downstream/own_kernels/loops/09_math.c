// Functions of math.h; errno is kept, as compilers do unless told otherwise.
// T: FLOATS

// name: square roots
// weight: 1
// x: n: positive
void kernel(T *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = sqrt_F(x[i]);
}

// name: absolute values
void kernel(T *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = fabs_F(x[i]);
}

// name: absolute differences
// weight: 1
T kernel(const T *a, const T *b, I n)
{
    T total = 0;
    @for (I i = 0; i < n; i++)
        total += fabs_F(a[i] - b[i]);
    return total;
}

// name: lengths of vectors
// weight: 1
void kernel(T *length, const T *x, const T *y, I n)
{
    @for (I i = 0; i < n; i++)
        length[i] = sqrt_F(x[i] * x[i] + y[i] * y[i]);
}

// name: exponentials
// sizes: work
// weight: 1
// top: 1
void kernel(T *out, const T *x, T top, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = exp_F(x[i] - top);
}

// name: powers
// sizes: work
// weight: 1
// x: n: positive
// exponent: 1.7
void kernel(T *out, const T *x, T exponent, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = pow_F(x[i], exponent);
}

// name: rounding down
// weight: 3
// x: n: any
// step: 3
void kernel(T *out, const T *x, T step, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = floor_F(x[i] / step) * step;
}

// name: smaller of two
// weight: 3
void kernel(T *out, const T *a, const T *b, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = fmin_F(a[i], b[i]);
}

// name: greatest magnitude
// weight: 1
T kernel(const T *x, I n)
{
    T best = 0;
    @for (I i = 0; i < n; i++)
        best = fmax_F(best, fabs_F(x[i]));
    return best;
}

// name: logistic
// sizes: work
// weight: 1
void kernel(T *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = 1 / (1 + exp_F(-x[i]));
}

// name: rational approximation
// weight: 3
void kernel(T *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++) {
        T v = x[i], square = v * v;
        out[i] = v * (27 + square) / (27 + 9 * square);
    }
}

// name: truncated to whole
// weight: 3
// x: n: any
void kernel(T *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = x[i] - trunc_F(x[i]);
}

// name: integer magnitudes
// T: int8_t | int16_t | int
// weight: 4
int kernel(const T *x, I n)
{
    int total = 0;
    @for (I i = 0; i < n; i++)
        total += abs(x[i]);
    return total;
}

// name: reciprocal distances
// weight: 1
// soft: 0.01
T kernel(const T *x, const T *y, T soft, I n)
{
    T total = 0;
    @for (I i = 0; i < n; i++)
        total += 1 / (x[i] * x[i] + y[i] * y[i] + soft);
    return total;
}

// name: sines summed
// sizes: work
// weight: 1
T kernel(const T *x, I n)
{
    T total = 0;
    @for (I i = 0; i < n; i++)
        total += sin_F(x[i]) * x[i];
    return total;
}
