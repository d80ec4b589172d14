// Stores to other places that a branch guards.
// rows: no

// name: permute where flagged
// mask: n: flags rate
// index: n: shuffled n
void kernel(T *out, const T *x, const int *index, const uint8_t *mask, I n)
{
    @for (I i = 0; i < n; i++) {
        if (mask[i])
            out[index[i]] = x[i];
    }
}

// name: reverse where less
// key: n: percent
// limit: rate
void kernel(T *out, const T *x, const T *key, T limit, J n)
{
    @for (J i = 0; i < n; i++) {
        if (key[i] < limit)
            out[n - 1 - i] = x[i];
    }
}

// name: counts where flagged
// T: UNSIGNED
// mask: n: flags rate
// count: 64: zero
// bin: n: random 64
void kernel(T *count, const uint8_t *bin, const uint8_t *mask, I n)
{
    @for (I i = 0; i < n; i++) {
        if (mask[i])
            count[bin[i]]++;
    }
}

// name: partition
// key: n: percent
// limit: rate
int kernel(T *low, T *high, const T *x, const T *key, T limit, int n)
{
    int lows = 0, highs = 0;
    @for (int i = 0; i < n; i++) {
        if (key[i] < limit)
            low[lows++] = x[i];
        else
            high[highs++] = x[i];
    }
    return lows;
}

// name: compact pairs
// mask: n: flags rate
int kernel(T *a, T *b, const T *x, const T *y, const uint8_t *mask, int n)
{
    int kept = 0;
    @for (int i = 0; i < n; i++) {
        if (mask[i]) {
            a[kept] = x[i];
            b[kept] = y[i];
            kept++;
        }
    }
    return kept;
}

// name: places where less
// key: n: percent
// limit: rate
int kernel(int *place, const T *key, T limit, int n)
{
    int kept = 0;
    @for (int i = 0; i < n; i++) {
        if (key[i] < limit)
            place[kept++] = i;
    }
    return kept;
}

// name: sums to bins where less
// T: int | int64_t | uint32_t
// key: n: percent
// limit: rate
// sum: 256: zero
// bin: n: random 256
void kernel(T *sum, const T *x, const int *bin, const T *key, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit)
            sum[bin[i]] += x[i];
    }
}

// name: one of three places
// mask: n: flags rate
// out: 3 * n
void kernel(T *out, const T *a, const T *b, const uint8_t *mask, I n)
{
    @for (I i = 0; i < n; i++) {
        if (mask[i])
            out[3 * i] = a[i];
        else
            out[3 * i + 1] = b[i];
    }
}

// name: marks where less
// key: n: percent
// limit: rate
// mark: 4096: zero
// index: n: random 4096
void kernel(uint8_t *mark, const int *index, const T *key, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit)
            mark[index[i]] = 1;
    }
}
