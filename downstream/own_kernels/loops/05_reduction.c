// A number from many.

// name: sum
// T: REDUCED | WIDENED
// weight: 4
U kernel(const T *x, I n)
{
    U total = 0;
    @for (I i = 0; i < n; i++)
        total += x[i];
    return total;
}

// name: product
// T: float | uint16_t | uint32_t | uint64_t | uint8_t
// weight: 4
// x: n: near
T kernel(const T *x, I n)
{
    T product = 1;
    @for (I i = 0; i < n; i++)
        product *= x[i];
    return product;
}

// name: dot product
// T: REDUCED | WIDENED
// weight: 4
U kernel(const T *a, const T *b, I n)
{
    U total = 0;
    @for (I i = 0; i < n; i++)
        total += (U)a[i] * b[i];
    return total;
}

// name: maximum
// T: REDUCED
// trip: n - 1
// weight: 3
// x: n: any
T kernel(const T *x, I n)
{
    T best = x[0];
    @for (I i = 1; i < n; i++)
        if (x[i] > best)
            best = x[i];
    return best;
}

// name: minimum and maximum
// T: REDUCED
// rows: no
// weight: 3
// range: 2
// x: n: any
void kernel(T *range, const T *x, I n)
{
    T low = x[0], high = x[0];
    @for (I i = 0; i < n; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    range[0] = low;
    range[1] = high;
}

// name: sum and sum of squares
// T: float | uint16_t | uint32_t | uint64_t | int64_t
// rows: no
// weight: 3
// moments: 2
void kernel(T *moments, const T *x, I n)
{
    T first = 0, second = 0;
    @for (I i = 0; i < n; i++) {
        first += x[i];
        second += x[i] * x[i];
    }
    moments[0] = first;
    moments[1] = second;
}

// name: sum of absolute differences
// T: WIDENED
// weight: 4
U kernel(const T *a, const T *b, I n)
{
    U total = 0;
    @for (I i = 0; i < n; i++)
        total += a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
    return total;
}

// name: squared distance
// T: WIDENED
// weight: 4
U kernel(const T *a, const T *b, I n)
{
    U total = 0;
    @for (I i = 0; i < n; i++) {
        U d = (U)a[i] - (U)b[i];
        total += d * d;
    }
    return total;
}

// name: count above
// weight: 4
// C: int | size_t | uint8_t | unsigned
// P: 10 | 50 | 90
// x: n: percent
// limit: P
C kernel(const T *x, T limit, I n)
{
    C count = 0;
    @for (I i = 0; i < n; i++)
        count += x[i] > limit;
    return count;
}

// name: conditional sum
// T: REDUCED
// weight: 4
// P: 1 | 10 | 50 | 90 | 99
// key: n: percent
// limit: P
T kernel(const T *x, const T *key, T limit, I n)
{
    T total = 0;
    @for (I i = 0; i < n; i++)
        if (key[i] < limit)
            total += x[i];
    return total;
}

// name: all bits seen
// T: INTEGERS
// weight: 3
T kernel(const T *x, I n)
{
    T seen = 0;
    @for (I i = 0; i < n; i++)
        seen |= x[i];
    return seen;
}

// name: parity
// T: INTEGERS
// weight: 3
T kernel(const T *x, I n)
{
    T parity = 0;
    @for (I i = 0; i < n; i++)
        parity ^= x[i];
    return parity;
}

// name: any above
// weight: 4
// P: 50 | 99 | 100
// x: n: percent
// limit: P
int kernel(const T *x, T limit, I n)
{
    int any = 0;
    @for (I i = 0; i < n; i++)
        if (x[i] > limit)
            any = 1;
    return any;
}

// name: four partial sums
// T: REDUCED
// trip: n // 4
// weight: 4
T kernel(const T *x, I n)
{
    T s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    @for (I i = 0; i + 3 < n; i += 4) {
        s0 += x[i];
        s1 += x[i + 1];
        s2 += x[i + 2];
        s3 += x[i + 3];
    }
    return (s0 + s1) + (s2 + s3);
}

// name: weighted mean
// T: FLOATS | UNSIGNED
// weight: 1
// share: n: positive
T kernel(const T *x, const T *share, I n)
{
    T total = 0, shares = 1;
    @for (I i = 0; i < n; i++) {
        total += x[i] * share[i];
        shares += share[i];
    }
    return total / (shares ? shares : 1);
}

// name: sum kept in memory
// T: UNSIGNED | FLOATS
// rows: no
// weight: 1
// total: 1
void kernel(T *total, const T *x, I n)
{
    @for (I i = 0; i < n; i++)
        *total += x[i];
}

// name: alternating sum
// T: SIGNED | double
// weight: 3
T kernel(const T *x, I n)
{
    T total = 0;
    @for (I i = 0; i < n; i++)
        total += i & 1 ? -x[i] : x[i];
    return total;
}

// name: maximum of products
// T: REDUCED
// weight: 4
T kernel(const T *a, const T *b, I n)
{
    T best = 0;
    @for (I i = 0; i < n; i++) {
        T p = a[i] * b[i];
        best = p > best ? p : best;
    }
    return best;
}

// name: checksum with positions
// T: uint32_t | uint64_t | uint16_t
// weight: 1
// x: n: any
T kernel(const uint8_t *x, I n)
{
    T low = 1, high = 0;
    @for (I i = 0; i < n; i++) {
        low += x[i];
        high += low;
    }
    return low ^ high;
}
