// Loops whose turns need the results of earlier turns.

// name: recurrence at a distance
// weight: 4
// D: 1 | 2 | 3 | 4 | 4 | 5 | 6 | 7 | 8 | 8 | 12 | 16 | 16 | 24 | 32
// x: n + D
void kernel(T *x, const T *b, I n)
{
    @for (I i = 0; i < n; i++)
        x[i + D] = x[i] / 2 + b[i];
}

// name: far recurrence in place
// T: UNSIGNED
// weight: 4
// D: 2 | 3 | 4 | 6 | 8 | 15 | 16 | 31 | 32
// x: n + D
void kernel(T *x, I n)
{
    @for (I i = D; i < n + D; i++)
        x[i] ^= x[i - D];
}

// name: backward dependence
// T: UNSIGNED
// weight: 3
// D: 1 | 2 | 4 | 8
// x: n + D
void kernel(T *x, const T *b, I n)
{
    @for (I i = 0; i < n; i++)
        x[i] = x[i + D] + b[i];
}

// name: prefix sum
// T: UNSIGNED | FLOATS
// weight: 1
void kernel(T *out, const T *x, I n)
{
    T total = 0;
    @for (I i = 0; i < n; i++) {
        total += x[i];
        out[i] = total;
    }
}

// name: running maximum
// weight: 1
// x: n: any
void kernel(T *out, const T *x, I n)
{
    T best = x[0];
    @for (I i = 0; i < n; i++) {
        best = x[i] > best ? x[i] : best;
        out[i] = best;
    }
}

// name: exponential smoothing
// T: FLOATS
// weight: 1
// share: 0.25
void kernel(T *out, const T *x, T share, I n)
{
    T level = x[0];
    @for (I i = 0; i < n; i++) {
        level += share * (x[i] - level);
        out[i] = level;
    }
}

// name: differences
// weight: 4
void kernel(T *out, const T *x, I n)
{
    T last = 0;
    @for (I i = 0; i < n; i++) {
        out[i] = x[i] - last;
        last = x[i];
    }
}

// name: second differences
// weight: 4
void kernel(T *out, const T *x, I n)
{
    T last = 0, before = 0;
    @for (I i = 0; i < n; i++) {
        out[i] = x[i] - 2 * last + before;
        before = last;
        last = x[i];
    }
}

// name: differences in place, downward
// weight: 3
// x: n + 1
// y: n + 1
void kernel(T *x, const T *y, J n)
{
    @for (J i = n; i > 0; i--)
        x[i] = y[i] - y[i - 1];
}

// name: two-term filter
// T: FLOATS
// weight: 1
// y: n + 2
// x: n + 2
void kernel(T *y, const T *x, I n)
{
    @for (I i = 2; i < n + 2; i++)
        y[i] = x[i] + (T)0.5 * y[i - 1] - (T)0.25 * y[i - 2];
}

// name: shift register
// T: uint32_t | uint64_t | uint8_t
// weight: 1
// x: n: any
T kernel(const T *x, I n)
{
    T state = 1;
    @for (I i = 0; i < n; i++)
        state = (state << 1 | state >> 3) ^ x[i];
    return state;
}

// name: random numbers added
// T: UNSIGNED
// rows: no
// weight: 1
// seed: 12345u
void kernel(T *x, uint32_t seed, I n)
{
    @for (I i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] ^= seed >> 16;
    }
}

// name: sum to the right neighbour
// T: UNSIGNED
// trip: n - 1
// weight: 1
void kernel(T *x, I n)
{
    @for (I i = 0; i + 1 < n; i++)
        x[i + 1] += x[i];
}

// name: two arrays, one behind
// trip: n - 1
// weight: 4
void kernel(T *a, T *b, const T *c, I n)
{
    @for (I i = 1; i < n; i++) {
        a[i] = c[i] + 1;
        b[i] = a[i - 1] - c[i];
    }
}

// name: two arrays, one ahead
// trip: n - 1
// weight: 4
void kernel(T *a, T *b, const T *c, I n)
{
    @for (I i = 0; i + 1 < n; i++) {
        b[i] = a[i + 1] + c[i];
        a[i] = c[i] * c[i];
    }
}

// name: carried scalar widened
// T: WIDENING
// weight: 4
void kernel(U *out, const T *x, I n)
{
    U carry = 0;
    @for (I i = 0; i < n; i++) {
        out[i] = carry + x[i];
        carry = x[i];
    }
}

// name: runtime distance
// T: INTEGERS
// rows: no
// constant: no
// weight: 1
// D: 1 | 4 | 16 | 64
// x: n + D
// lag: D
void kernel(T *x, I lag, I n)
{
    @for (I i = 0; i < n; i++)
        x[i + lag] ^= x[i];
}
