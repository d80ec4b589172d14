// An element from elements at the same place.

// name: add
// T: ALL | WIDENING
// weight: 4
void kernel(U *sum, const T *a, const U *b, I n)
{
    @for (I i = 0; i < n; i++)
        sum[i] = a[i] + b[i];
}

// name: scaled add in place
// T: FLOATS
// alpha: 0.75
// beta: 0.5
void kernel(T *y, const T *x, T alpha, T beta, I n)
{
    @for (I i = 0; i < n; i++)
        y[i] = alpha * x[i] + beta * y[i];
}

// name: multiply add
// weight: 3
void kernel(T *out, const T *a, const T *b, const T *c, I n)
{
    @for (I i = 0; i < n; ++i)
        out[i] = a[i] * b[i] + c[i];
}

// name: xor in place
// T: INTEGERS
// weight: 3
void kernel(T *block, const T *key, I n)
{
    @for (I i = 0; i < n; i++)
        block[i] ^= key[i];
}

// name: average
// T: INTEGERS
// weight: 3
void kernel(T *out, const T *a, const T *b, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = (a[i] + b[i] + 1) >> 1;
}

// name: sum and difference
// weight: 3
void kernel(T *sum, T *difference, const T *a, const T *b, I n)
{
    @for (I i = 0; i < n; i++) {
        sum[i] = a[i] + b[i];
        difference[i] = a[i] - b[i];
    }
}

// name: polynomial
// T: FLOATS | uint32_t | uint64_t | uint8_t
void kernel(T *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++) {
        T v = x[i];
        out[i] = ((((3 * v + 2) * v + 5) * v + 1) * v + 7) * v + 4;
    }
}

// name: counter added
// T: UNSIGNED | FLOATS
// K: 1 | 3 | 7
void kernel(T *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = x[i] + (T)(K * i);
}

// name: walking pointers
// trip: unknown
// rows: no
// constant: no
void kernel(T *out, const T *a, const T *b, I n)
{
    @while (n--) {
        *out++ = *a++ - *b++;
    }
}

// name: five streams
void kernel(T *out, const T *a, const T *b, const T *c, const T *d, const T *e, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = a[i] * b[i] + c[i] * d[i] - e[i];
}

// name: blend
// T: FLOATS
// share: 0.3
void kernel(T *out, const T *start, const T *end, T share, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = start[i] + (end[i] - start[i]) * share;
}

// name: divide
// weight: 1
// b: n: positive
void kernel(T *out, const T *a, const T *b, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = a[i] / b[i];
}

// name: divide by parameter
// step: 7
void kernel(T *out, const T *a, T step, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = (a[i] / step) * step;
}

// name: remainder
// T: INTEGERS
// weight: 1
// modulus: 13
void kernel(T *out, const T *a, T modulus, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = a[i] % modulus;
}

// name: swap
// weight: 3
void kernel(T *a, T *b, I n)
{
    @for (I i = 0; i < n; i++) {
        T old = a[i];
        a[i] = b[i];
        b[i] = old;
    }
}

// name: unrolled by hand
// trip: n // 4
void kernel(T *out, const T *a, const T *b, I n)
{
    @for (I i = 0; i + 3 < n; i += 4) {
        out[i] = a[i] + b[i];
        out[i + 1] = a[i + 1] + b[i + 1];
        out[i + 2] = a[i + 2] + b[i + 2];
        out[i + 3] = a[i + 3] + b[i + 3];
    }
}

// name: shift down in place
// T: UNSIGNED
// K: 1 | 5
// x: n + 1
void kernel(T *x, I n)
{
    @for (I i = 0; i < n; i++)
        x[i] = x[i + 1] ^ K;
}

// name: running write position
// T: UNSIGNED | FLOATS
// first: 1
// step: 2
void kernel(T *out, const T *x, T first, T step, I n)
{
    T value = first;
    @for (I i = 0; i < n; i++) {
        out[i] = value * x[i];
        value += step;
    }
}

// name: overlapping rows
// T: UNSIGNED
// rows: no
// K: 1 | 3
// S: 1 | 4 | 100
// old: = to + S
// to: n + S
void kernel(T *to, const T *old, I n)
{
    @for (I i = 0; i < n; i++)
        to[i] = old[i] ^ K;
}
