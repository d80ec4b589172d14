// Stores whose place is read from an array, and histograms.
// INDICES: int | uint32_t | int64_t
// PATTERNS: identity | clustered | random | shuffled
// weight: 1

// name: scatter
// weight: 2
// X: INDICES
// P: PATTERNS
// K: 256 | 2000 | 65536 | 4000000
// out: K
// index: n: P K
void kernel(T *out, const T *x, const X *index, I n)
{
    @for (I i = 0; i < n; i++)
        out[index[i]] = x[i];
}

// name: scattered constant
// weight: 2
// X: INDICES
// P: PATTERNS
// K: 256 | 2000 | 65536
// flags: K: zero
// index: n: P K
void kernel(T *flags, const X *index, I n)
{
    @for (I i = 0; i < n; i++)
        flags[index[i]] = 1;
}

// name: histogram
// T: UNSIGNED
// P: random | skewed | clustered
// bins: 256: zero
// x: n: P 256
void kernel(uint32_t *bins, const T *x, I n)
{
    @for (I i = 0; i < n; i++)
        bins[x[i]]++;
}

// name: histogram of scaled values
// T: float | double
// bins: 128: zero
// x: n: percent
// scale: 0.5
void kernel(uint32_t *bins, const T *x, T scale, I n)
{
    @for (I i = 0; i < n; i++) {
        int bin = (int)(x[i] * scale);
        bins[bin] += 1;
    }
}

// name: permute records
// X: INDICES
// P: identity | random
// to: 2 * n
// old: 2 * n
// place: n: P n
void kernel(T *to, const T *old, const X *place, I n)
{
    @for (I i = 0; i < n; i++) {
        to[2 * place[i]] = old[2 * i];
        to[2 * place[i] + 1] = old[2 * i + 1];
    }
}

// name: scatter and gather
// weight: 2
// X: INDICES
// P: PATTERNS
// K: 2000 | 65536
// out: K
// x: K
// here: n: P K
// there: n: random K
void kernel(T *out, const T *x, const X *here, const X *there, I n)
{
    @for (I i = 0; i < n; i++)
        out[there[i]] = x[here[i]];
}

// name: bucket counts of digits
// T: UNSIGNED
// count: 16: zero
// keys: n: any
// shift: 4
void kernel(unsigned *count, const T *keys, unsigned shift, I n)
{
    @for (I i = 0; i < n; i++)
        count[(keys[i] >> shift) & 15]++;
}

// name: edges add to nodes
// T: WIDENING | FLOATS
// K: 64 | 2000 | 65536
// node: K: zero
// end: n: random K
void kernel(U *node, const int *end, const T *value, I n)
{
    @for (I i = 0; i < n; i++)
        node[end[i]] += value[i];
}

// name: store at bit-reversed places
// out: 4096
void kernel(T *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++)
        out[(i ^ (i >> 1)) & 4095] = x[i];
}
