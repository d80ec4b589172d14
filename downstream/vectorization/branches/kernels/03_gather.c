// Loads that a branch guards.
// rows: no

// name: look up where less
// key: n: percent
// limit: rate
// table: 256
// index: n: random 256
void kernel(T *out, const T *table, const int *index, const T *key, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit)
            out[i] = table[index[i]];
    }
}

// name: flag of another place
// mask: n: flags rate
// index: n: random n
void kernel(T *out, const T *x, const uint8_t *mask, const int *index, I n)
{
    @for (I i = 0; i < n; i++) {
        if (mask[index[i]])
            out[i] = x[i];
    }
}

// name: weighted look up where flagged
// mask: n: flags rate
// table: 1000
// index: n: clustered 1000
void kernel(T *out, const T *table, const T *w, const int *index, const uint8_t *mask, I n)
{
    @for (I i = 0; i < n; i++) {
        if (mask[i])
            out[i] = table[index[i]] * w[i];
    }
}

// name: one of two tables
// key: n: percent
// limit: rate
// table: 256
// second: 256
// index: n: random 256
void kernel(T *out, const T *table, const T *second, const uint8_t *index, const T *key, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit)
            out[i] = table[index[i]];
        else
            out[i] = second[index[i]];
    }
}

// name: table of a table where flagged
// mask: n: flags rate
// table: 256
// step: 256: random 256
// index: n: random 256
void kernel(T *out, const T *table, const int *step, const int *index, const uint8_t *mask, I n)
{
    @for (I i = 0; i < n; i++) {
        if (mask[i])
            out[i] = table[step[index[i]]];
    }
}

// name: third places where flagged
// mask: n: flags rate
// x: 3 * n
void kernel(T *out, const T *x, const uint8_t *mask, I n)
{
    @for (I i = 0; i < n; i++) {
        if (mask[i])
            out[i] = x[3 * i];
    }
}

// name: backwards where less
// key: n: percent
// limit: rate
void kernel(T *out, const T *x, const T *key, T limit, J n)
{
    @for (J i = 0; i < n; i++) {
        if (key[i] < limit)
            out[i] = x[n - 1 - i];
    }
}

// name: pixel of an image where flagged
// mask: n: flags rate
// image: 1024
// row: n: random 32
// column: n: random 32
void kernel(T *out, const T *image, const int *row, const int *column, const uint8_t *mask, I n)
{
    @for (I i = 0; i < n; i++) {
        if (mask[i])
            out[i] = image[row[i] * 32 + column[i]] + 1;
    }
}

// name: look up or keep
// T: int | int64_t | FLOATS
// key: n: percent
// limit: rate
// table: 4096
// index: n: random 4096
void kernel(T *out, const T *x, const T *table, const int *index, const T *key, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        T v = x[i];
        if (key[i] < limit)
            v = table[index[i]] + v;
        out[i] = v;
    }
}
