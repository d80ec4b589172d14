// Shifts, counts of bits, and sums that saturate.
// weight: 4

// name: population counts
// T: UNSIGNED
// words: n: any
int kernel(const T *words, I n)
{
    int bits = 0;
    @for (I i = 0; i < n; i++)
        bits += __builtin_popcountll(words[i]);
    return bits;
}

// name: population count by steps
// T: uint32_t
// words: n: any
void kernel(uint8_t *out, const uint32_t *words, I n)
{
    @for (I i = 0; i < n; i++) {
        uint32_t v = words[i];
        v = v - (v >> 1 & 0x55555555u);
        v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
        out[i] = ((v + (v >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
    }
}

// name: leading zeros
// T: uint32_t
// words: n: any
void kernel(uint8_t *out, const uint32_t *words, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = __builtin_clz(words[i] | 1);
}

// name: rotation
// T: uint32_t | uint64_t
// K: 5 | 8 | 13
// x: n: any
static inline T rotate(T x, int by)
{
    return x << by | x >> (8 * (int)sizeof x - by);
}

void kernel(T *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = rotate(x[i], K) ^ x[i];
}

// name: shift by element
// T: UNSIGNED
// x: n: any
// by: n: random 8
void kernel(T *out, const T *x, const uint8_t *by, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = x[i] >> by[i];
}

// name: saturating sum
// T: UNSIGNED
// a: n: any
// b: n: any
void kernel(T *out, const T *a, const T *b, I n)
{
    @for (I i = 0; i < n; i++) {
        T sum = a[i] + b[i];
        out[i] = sum < a[i] ? (T)-1 : sum;
    }
}

// name: saturating difference
// T: UNSIGNED
// x: n: any
// y: n: any
void kernel(T *x, const T *y, I n)
{
    @for (I i = 0; i < n; i++)
        x[i] = x[i] > y[i] ? x[i] - y[i] : 0;
}

// name: saturating samples
// T: NARROW
static T limited(int value)
{
    if (value > 50)
        return 50;
    if (value < 0)
        return 0;
    return (T)value;
}

void kernel(T *out, const T *a, const T *b, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = limited(a[i] + b[i]);
}

// name: byte order
// T: uint32_t
// weight: 3
// words: n: any
void kernel(uint32_t *words, I n)
{
    @for (I i = 0; i < n; i++) {
        uint32_t v = words[i];
        words[i] = v >> 24 | (v >> 8 & 0xff00u) | (v << 8 & 0xff0000u) | v << 24;
    }
}

// name: words from bytes
// T: uint32_t
// bytes: 4 * n: any
void kernel(uint32_t *words, const uint8_t *bytes, I n)
{
    @for (I i = 0; i < n; i++)
        words[i] = bytes[4 * i] | bytes[4 * i + 1] << 8 | bytes[4 * i + 2] << 16 | (uint32_t)bytes[4 * i + 3] << 24;
}

// name: hash of keys
// T: uint32_t | uint64_t
// weight: 3
// keys: n: any
void kernel(T *out, const T *keys, I n)
{
    @for (I i = 0; i < n; i++) {
        T h = keys[i];
        h ^= h >> 15;
        h *= (T)0x2c1b3c6du;
        h ^= h >> 12;
        out[i] = h;
    }
}

// name: bit from bitmap
// T: uint32_t
// K: 64 | 4096 | 500000
// P: random | clustered
// bitmap: K: any
// index: n: P 32 * K
int kernel(const uint32_t *bitmap, const int *index, I n)
{
    int set = 0;
    @for (I i = 0; i < n; i++)
        set += bitmap[index[i] >> 5] >> (index[i] & 31) & 1;
    return set;
}

// name: hamming distance
// T: uint8_t | uint32_t | uint16_t
// a: n: any
// b: n: any
unsigned kernel(const T *a, const T *b, I n)
{
    unsigned distance = 0;
    @for (I i = 0; i < n; i++)
        distance += __builtin_popcount(a[i] ^ b[i]);
    return distance;
}

// name: masked merge
// T: UNSIGNED
// weight: 3
// mask: n: any
void kernel(T *out, const T *a, const T *b, const T *mask, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = (a[i] & mask[i]) | (b[i] & ~mask[i]);
}

// name: bits gathered to a word
// T: uint32_t | uint64_t | uint8_t
// weight: 3
// flag: n: flags 30
T kernel(const uint8_t *flag, I n)
{
    T word = 0;
    @for (I i = 0; i < n; i++)
        word |= (T)(flag[i] != 0) << (i & 7);
    return word;
}
