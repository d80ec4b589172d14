// Elements whose place is read from an array.
// TABLES are sizes of the table: in the first cache, the second, the third, memory. Each pattern meets each.
// TABLES: 256 | 2000 | 2000 | 16384 | 65536 | 1000000 | 8388608
// PATTERNS: identity | clustered | random | random
// INDICES: int | int | uint32_t | int64_t | size_t
// weight: 4

// name: gather
// X: INDICES
// K: TABLES
// P: PATTERNS
// table: K
// index: n: P K
void kernel(T *out, const T *table, const X *index, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = table[index[i]];
}

// name: gathered sum
// T: REDUCED
// X: INDICES
// K: TABLES
// P: PATTERNS
// table: K
// index: n: P K
T kernel(const T *table, const X *index, I n)
{
    T total = 0;
    @for (I i = 0; i < n; i++)
        total += table[index[i]];
    return total;
}

// name: gathered dot product
// T: REDUCED
// X: INDICES
// K: TABLES
// P: PATTERNS
// x: K
// index: n: P K
T kernel(const T *weights, const X *index, const T *x, I n)
{
    T total = 0;
    @for (I i = 0; i < n; i++)
        total += weights[i] * x[index[i]];
    return total;
}

// name: gather and add
// X: INDICES
// P: PATTERNS
// index: n: P n
// a: 2
void kernel(T *y, const T *x, const X *index, T a, I n)
{
    @for (I i = 0; i < n; i++)
        y[i] = a * x[index[i]] + x[i];
}

// name: two gathers
// X: INDICES
// K: TABLES
// P: PATTERNS
// x: K
// left: n: P K
// right: n: random K
void kernel(T *out, const T *x, const X *left, const X *right, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = x[left[i]] - x[right[i]];
}

// name: index of index
// weight: 3
// X: INDICES
// K: 256 | 2000 | 65536
// P: PATTERNS
// x: K
// inner: K: P K
// outer: n: random K
void kernel(T *out, const T *x, const X *outer, const X *inner, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = x[inner[outer[i]]] + 1;
}

// name: table of wide values
// T: WIDENING | uint8_t
// table: 256
// symbols: n: any
void kernel(U *out, const uint8_t *symbols, const U *table, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = table[symbols[i]];
}

// name: masked table index
// K: 256 | 4096 | 65536
// table: K
// keys: n: any
void kernel(T *out, const uint32_t *keys, const T *table, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = table[(keys[i] * 2654435761u >> 7) & (K - 1)];
}

// name: gather of pairs
// T: FLOATS | int | uint16_t
// X: INDICES
// K: 256 | 2000 | 65536
// P: PATTERNS
// points: 2 * K
// index: n: P K
struct pair {
    T x, y;
};

void kernel(T *out, const struct pair *points, const X *index, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = points[index[i]].x + points[index[i]].y;
}

// name: linear interpolation in a table
// T: FLOATS
// table: 102
// where: n: percent
void kernel(T *out, const T *table, const T *where, I n)
{
    @for (I i = 0; i < n; i++) {
        int k = (int)where[i];
        T share = where[i] - k;
        out[i] = table[k] + share * (table[k + 1] - table[k]);
    }
}

// name: gathered maximum
// T: REDUCED
// weight: 3
// X: INDICES
// K: TABLES
// P: PATTERNS
// score: K: any
// index: n: P K
T kernel(const T *score, const X *index, I n)
{
    T best = score[index[0]];
    @for (I i = 0; i < n; i++)
        best = score[index[i]] > best ? score[index[i]] : best;
    return best;
}

// name: gathered count
// T: UNSIGNED
// marked: 256: flags 30
// keys: n: random 256
int kernel(const T *keys, const uint8_t *marked, I n)
{
    int count = 0;
    @for (I i = 0; i < n; i++)
        count += marked[keys[i]];
    return count;
}

// name: gather under condition
// X: INDICES
// K: 256 | 2000 | 65536
// P: 1 | 10 | 50 | 90 | 99
// x: n: percent
// table: K
// index: n: random K
// limit: P
void kernel(T *out, const T *x, const T *table, const X *index, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        if (x[i] < limit)
            out[i] = table[index[i]];
    }
}

// name: sparse row sums
// T: REDUCED
// sizes: work
// trip: unknown
// rows: no
// K: 2 | 4 | 16 | 60
// start: n + 1: starts K
// column: n * 2 * K: random n
// value: n * 2 * K
void kernel(T *y, const int *start, const int *column, const T *value, const T *x, int n)
{
    for (int r = 0; r < n; r++) {
        T total = 0;
        @for (int k = start[r]; k < start[r + 1]; k++)
            total += value[k] * x[column[k]];
        y[r] = total;
    }
}

// name: sparse rows of power-law length
// T: REDUCED
// sizes: work
// trip: unknown
// rows: no
// X: int | uint32_t | int64_t
// P: PATTERNS
// start: n + 1: powers
// column: n * 64: P n
void kernel(T *y, const int *start, const X *column, const T *x, int n)
{
    for (int r = 0; r < n; r++) {
        T total = 0;
        @for (int k = start[r]; k < start[r + 1]; k++)
            total += x[column[k]];
        y[r] = total;
    }
}

// name: gather backward
// weight: 3
// X: INDICES
// P: PATTERNS
// K: 2000 | 65536
// x: K
// index: n: P K
void kernel(T *out, const T *x, const X *index, I n)
{
    @for (I i = 0; i < n; i++)
        out[n - 1 - i] = x[index[i]];
}

// name: narrow indices
// X: uint8_t | uint16_t
// palette: 256
// index: n: random 256
void kernel(T *out, const T *palette, const X *index, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = palette[index[i]] + 1;
}
