// Loops with branches.

// name: cubic where less
// T: int | uint16_t | FLOATS
// key: n: percent
// limit: rate
void kernel(T *out, const T *x, const T *key, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit)
            out[i] = ((x[i] * 3 + 2) * x[i] + 5) * x[i] + 1;
    }
}

// name: cubic or double
// T: int | uint16_t | FLOATS
// key: n: percent
// limit: rate
void kernel(T *out, const T *x, const T *key, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit)
            out[i] = ((x[i] * 3 + 2) * x[i] + 5) * x[i] + 1;
        else
            out[i] = x[i] + x[i];
    }
}

// name: quotient where less
// T: FLOATS
// key: n: percent
// limit: rate
// b: n: positive
void kernel(T *out, const T *a, const T *b, const T *key, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit)
            out[i] = a[i] / b[i];
        else
            out[i] = a[i];
    }
}

// name: root where flagged
// T: FLOATS
// mask: n: flags rate
// x: n: positive
void kernel(T *out, const T *x, const uint8_t *mask, I n)
{
    @for (I i = 0; i < n; i++) {
        if (mask[i])
            out[i] = sqrt_F(x[i]) + x[i];
    }
}

// name: two updates where less
// key: n: percent
// limit: rate
void kernel(T *y, T *z, const T *a, const T *key, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit) {
            y[i] = a[i] + 1;
            z[i] = a[i] - 1;
        }
    }
}

// name: four stores where flagged
// mask: n: flags rate
void kernel(T *p, T *q, T *r, T *s, const T *a, const T *b, const uint8_t *mask, I n)
{
    @for (I i = 0; i < n; i++) {
        if (mask[i]) {
            p[i] = a[i] + b[i];
            q[i] = a[i] - b[i];
            r[i] = a[i] + 2;
            s[i] = b[i] + 2;
        }
    }
}

// name: zero where flagged
// mask: n: flags rate
void kernel(T *out, const uint8_t *mask, I n)
{
    @for (I i = 0; i < n; i++) {
        if (mask[i])
            out[i] = 0;
    }
}

// name: copy unless flagged
// mask: n: flags rate
void kernel(T *out, const T *x, const int *mask, I n)
{
    @for (I i = 0; i < n; i++) {
        if (!mask[i])
            out[i] = x[i];
    }
}

// name: three ways by two keys
// key: n: percent
// other: n: percent
// limit: rate
void kernel(T *out, const T *x, const T *y, const T *key, const T *other, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit)
            out[i] = x[i] + y[i];
        else if (other[i] < limit)
            out[i] = x[i] - y[i];
    }
}

// name: both neighbours less
// key: n + 1: percent
// limit: rate
void kernel(T *out, const T *x, const T *key, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit && key[i + 1] < limit)
            out[i] = x[i] + 3;
    }
}

// name: either key less
// key: n: percent
// other: n: percent
// limit: rate
void kernel(T *out, const T *x, const T *key, const T *other, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit || other[i] < limit)
            out[i] = x[i] - 3;
    }
}

// name: shifts where flagged
// T: UNSIGNED
// mask: n: flags rate
void kernel(T *out, const T *x, const T *mask, I n)
{
    @for (I i = 0; i < n; i++) {
        if (mask[i])
            out[i] = (x[i] << 3) ^ (x[i] >> 2);
    }
}

// name: wider where less
// T: WIDENING
// key: n: percent
// limit: rate
void kernel(U *out, const T *x, const T *key, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit)
            out[i] = (U)x[i] + (U)key[i];
    }
}

// name: heavy or light
// T: int | int16_t | FLOATS
// mask: n: flags rate
// b: n: positive
void kernel(T *out, const T *a, const T *b, const uint8_t *mask, I n)
{
    @for (I i = 0; i < n; i++) {
        if (mask[i]) {
            T v = a[i] * b[i] + 1;
            v = v * a[i] + b[i];
            v = v * b[i] - a[i];
            v = v * v + 3;
            out[i] = v * a[i] - b[i];
        }
    }
}

// name: branch in a branch
// key: n: percent
// mask: n: flags rate
// limit: rate
void kernel(T *out, T *rest, const T *x, const T *key, const uint8_t *mask, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit) {
            if (mask[i])
                out[i] = x[i] + x[i];
            else
                rest[i] = x[i];
        }
    }
}

// name: two skips
// a: n: flags rate
// key: n: percent
// limit: rate
void kernel(T *out, const uint8_t *a, const T *key, const T *x, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        if (!a[i])
            continue;
        if (key[i] >= limit)
            continue;
        out[i] = x[i] * 2 + 1;
    }
}

// name: remainder where flagged
// T: uint32_t | uint16_t | uint64_t
// mask: n: flags rate
// b: n: positive
void kernel(T *out, const T *a, const T *b, const uint8_t *mask, I n)
{
    @for (I i = 0; i < n; i++) {
        if (mask[i])
            out[i] = a[i] % b[i];
    }
}

// name: even places where less
// key: n: percent
// limit: rate
// out: 2 * n
void kernel(T *out, const T *x, const T *key, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit)
            out[2 * i] = x[i];
    }
}
