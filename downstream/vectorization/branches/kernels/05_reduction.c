// Sums and extremes of some elements.
// T: REDUCED

// name: sum where less
// key: n: percent
// limit: rate
T kernel(const T *x, const T *key, T limit, I n)
{
    T sum = 0;
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit)
            sum += x[i];
    }
    return sum;
}

// name: products where flagged
// mask: n: flags rate
T kernel(const T *a, const T *b, const uint8_t *mask, I n)
{
    T sum = 0;
    @for (I i = 0; i < n; i++) {
        if (mask[i])
            sum += a[i] * b[i];
    }
    return sum;
}

// name: sums of two kinds
// key: n: percent
// limit: rate
T kernel(const T *x, const T *y, const T *key, T limit, I n)
{
    T sum = 0, other = 0;
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit)
            sum += x[i];
        else
            other += y[i];
    }
    return sum - other;
}

// name: largest where flagged
// mask: n: flags rate
// x: n: any
T kernel(const T *x, const uint8_t *mask, I n)
{
    T best = 0;
    @for (I i = 0; i < n; i++) {
        if (mask[i] && x[i] > best)
            best = x[i];
    }
    return best;
}

// name: count where less
// key: n: percent
// limit: rate
int kernel(const T *key, T limit, I n)
{
    int count = 0;
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit)
            count++;
    }
    return count;
}

// name: sum and count where less
// key: n: percent
// limit: rate
T kernel(const T *x, const T *key, T limit, I n)
{
    T sum = 0, count = 1;
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit) {
            sum += x[i];
            count += 1;
        }
    }
    return sum / count;
}

// name: distances where flagged
// mask: n: flags rate
T kernel(const T *a, const T *b, const uint8_t *mask, I n)
{
    T sum = 0;
    @for (I i = 0; i < n; i++) {
        if (mask[i]) {
            T d = a[i] - b[i];
            sum += d * d;
        }
    }
    return sum;
}

// name: looked up sum where less
// key: n: percent
// limit: rate
// table: 256
// index: n: random 256
T kernel(const T *table, const uint8_t *index, const T *key, T limit, I n)
{
    T sum = 0;
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit)
            sum += table[index[i]];
    }
    return sum;
}

// name: mixed bits where flagged
// T: UNSIGNED
// mask: n: flags rate
T kernel(const T *x, const T *mask, I n)
{
    T all = 0;
    @for (I i = 0; i < n; i++) {
        if (mask[i])
            all ^= x[i] * 5 + (x[i] >> 3);
    }
    return all;
}

// name: quotients where less
// T: int | uint32_t | uint16_t | float
// key: n: percent
// limit: rate
// b: n: positive
T kernel(const T *a, const T *b, const T *key, T limit, I n)
{
    T sum = 0;
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit)
            sum += a[i] / b[i];
    }
    return sum;
}

// name: sum unless either
// a: n: flags rate
// b: n: flags rate
T kernel(const T *x, const uint8_t *a, const uint8_t *b, I n)
{
    T sum = 0;
    @for (I i = 0; i < n; i++) {
        if (!a[i] && !b[i])
            sum += x[i];
    }
    return sum;
}

// name: range where flagged
// T: int16_t | int | uint8_t | uint32_t | float
// mask: n: flags rate
// x: n: any
T kernel(const T *x, const uint8_t *mask, I n)
{
    T low = 100, high = 0;
    @for (I i = 0; i < n; i++) {
        if (mask[i]) {
            if (x[i] < low)
                low = x[i];
            if (x[i] > high)
                high = x[i];
        }
    }
    return high - low;
}

// name: wider sum where less
// T: WIDENED
// key: n: percent
// limit: rate
U kernel(const T *x, const T *key, T limit, I n)
{
    U sum = 0;
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit)
            sum += x[i];
    }
    return sum;
}

// name: polynomial sum where less
// T: int | uint32_t | uint16_t | int64_t
// key: n: percent
// limit: rate
T kernel(const T *x, const T *key, T limit, I n)
{
    T sum = 0;
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit)
            sum += ((x[i] * 3 + 2) * x[i] + 5) * x[i] + 1;
        else
            sum += x[i];
    }
    return sum;
}
