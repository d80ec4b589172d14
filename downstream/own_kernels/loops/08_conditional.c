// Loops with branches.
// PERCENT is how often the condition holds, of a hundred elements.
// PERCENT: 1 | 10 | 50 | 50 | 90 | 99
// weight: 4

// name: conditional store
// P: PERCENT
// x: n: percent
// limit: P
void kernel(T *out, const T *x, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        if (x[i] < limit)
            out[i] = x[i];
    }
}

// name: conditional update
// P: PERCENT
// key: n: percent
// limit: P
void kernel(T *y, const T *x, const T *key, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        if (key[i] < limit)
            y[i] = x[i] + x[i] / 4;
    }
}

// name: if else
// P: PERCENT
// x: n: percent
// limit: P
void kernel(T *out, const T *x, const T *y, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        if (x[i] < limit)
            out[i] = y[i] * 2;
        else
            out[i] = x[i] - y[i];
    }
}

// name: select
// P: PERCENT
// mask: n: flags P
void kernel(T *out, const T *a, const T *b, const uint8_t *mask, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = mask[i] ? a[i] : b[i];
}

// name: branch to two arrays
// P: PERCENT
// x: n: percent
// limit: P
void kernel(T *low, T *high, const T *x, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        if (x[i] < limit)
            low[i] = x[i];
        else
            high[i] = x[i];
    }
}

// name: clamp
// x: n: percent
// low: 20
// high: 80
void kernel(T *out, const T *x, T low, T high, I n)
{
    @for (I i = 0; i < n; i++) {
        if (x[i] < low)
            out[i] = low;
        else if (x[i] > high)
            out[i] = high;
        else
            out[i] = x[i];
    }
}

// name: rectifier
// T: SIGNED | FLOATS
// weight: 3
void kernel(T *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = x[i] > 0 ? x[i] : 0;
}

// name: guarded division
// P: PERCENT
// a: n: positive
// b: n: flags P
void kernel(T *out, const T *a, const T *b, I n)
{
    @for (I i = 0; i < n; i++) {
        if (b[i] != 0)
            out[i] = a[i] / b[i];
    }
}

// name: nested conditions
// P: PERCENT
// x: n: percent
// y: n: percent
// limit: P
void kernel(T *out, const T *x, const T *y, T limit, I n)
{
    @for (I i = 0; i < n; i++) {
        if (x[i] < limit) {
            if (y[i] < x[i])
                out[i] = y[i];
            else
                out[i] = x[i] + 1;
        }
    }
}

// name: switch
// weight: 3
// P: random | skewed | clustered
// kind: n: P 4
void kernel(T *out, const T *x, const uint8_t *kind, I n)
{
    @for (I i = 0; i < n; i++) {
        switch (kind[i]) {
        case 0:
            out[i] = x[i];
            break;
        case 1:
            out[i] = x[i] + x[i];
            break;
        case 2:
            out[i] = x[i] - 3;
            break;
        default:
            out[i] = 0;
        }
    }
}

// name: condition on flags of another width
// T: WIDENING_DEFINED
// P: PERCENT
// flag: n: flags P
void kernel(U *out, const U *x, const T *flag, I n)
{
    @for (I i = 0; i < n; i++) {
        if (flag[i])
            out[i] += x[i];
    }
}

// name: skip with continue
// P: PERCENT
// x: n: flags P
// y: n: flags 50
void kernel(T *out, const T *x, const T *y, I n)
{
    @for (I i = 0; i < n; i++) {
        if (x[i] == y[i])
            continue;
        out[i] = x[i] > y[i] ? x[i] - y[i] : y[i] - x[i];
    }
}

// name: compact
// rows: no
// weight: 1
// P: PERCENT
// x: n: percent
// limit: P
int kernel(T *out, const T *x, T limit, int n)
{
    int kept = 0;
    @for (int i = 0; i < n; i++) {
        if (x[i] < limit)
            out[kept++] = x[i];
    }
    return kept;
}

// name: invariant condition
// weight: 2
// P: 0 | 1
// subtract: P
void kernel(T *out, const T *a, const T *b, int subtract, I n)
{
    @for (I i = 0; i < n; i++) {
        if (subtract)
            out[i] = a[i] - b[i];
        else
            out[i] = a[i] + b[i];
    }
}

// name: count and store
// P: 1 | 10 | 50 | 90
// x: n: percent
// limit: P
int kernel(T *out, const T *x, T limit, int n)
{
    int count = 0;
    @for (int i = 0; i < n; i++) {
        if (x[i] > limit) {
            out[i] = limit;
            count++;
        }
    }
    return count;
}

// name: piecewise function
// x: n: percent
void kernel(T *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++) {
        T v = x[i];
        if (v < 25)
            out[i] = v * v;
        else if (v < 75)
            out[i] = 2 * v + 1;
        else
            out[i] = 100 - v;
    }
}

// name: cyclic condition
// weight: 3
// K: 2 | 3 | 4 | 7
void kernel(T *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++) {
        if (i % K == 0)
            out[i] = x[i] + 1;
        else
            out[i] = x[i];
    }
}

// name: swap where greater
// low: n: any
// high: n: any
void kernel(T *low, T *high, I n)
{
    @for (I i = 0; i < n; i++) {
        if (low[i] > high[i]) {
            T old = low[i];
            low[i] = high[i];
            high[i] = old;
        }
    }
}

// name: rare repair
// P: 50 | 90 | 99
// x: n: flags P
// left: n: positive
// right: n: positive
void kernel(T *out, const T *x, const T *left, const T *right, I n)
{
    @for (I i = 0; i < n; i++) {
        if (x[i] == 0)
            out[i] = left[i] / 2 + right[i] / 2;
    }
}

// name: two masks
// T: INTEGERS | FLOATS
// P: PERCENT
// a: n: flags P
// b: n: flags 20
void kernel(T *out, const uint8_t *a, const uint8_t *b, const T *x, I n)
{
    @for (I i = 0; i < n; i++) {
        if (a[i] && !b[i])
            out[i] = x[i];
    }
}

// name: saturating counter
// T: UNSIGNED | SIGNED
// weight: 3
// P: PERCENT
// counter: n: random 4
// taken: n: flags P
void kernel(T *counter, const uint8_t *taken, I n)
{
    @for (I i = 0; i < n; i++) {
        if (taken[i]) {
            if (counter[i] < 3)
                counter[i]++;
        } else if (counter[i] > 0) {
            counter[i]--;
        }
    }
}
