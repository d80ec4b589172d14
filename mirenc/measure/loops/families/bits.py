"""Shifts, counts of bits, and sums that saturate."""

from __future__ import annotations

from mirenc.measure.loops.structure import structure
from mirenc.measure.loops.types import NARROW, UNSIGNED

__all__ = ["BITS"]

BITS = (
    structure(
        "population counts",
        """
int (const T *words, I n)
int bits = 0;
@for (I i = 0; i < n; i++)
    bits += __builtin_popcountll(words[i]);
return bits;
""",
        types=UNSIGNED,
        weight=4,
        words="n: any",
    ),
    structure(
        "population count by steps",
        """
void (uint8_t *out, const uint32_t *words, I n)
@for (I i = 0; i < n; i++) {
    uint32_t v = words[i];
    v = v - (v >> 1 & 0x55555555u);
    v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
    out[i] = ((v + (v >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}
""",
        types=(("uint32_t", "uint32_t"),),
        weight=3,
        words="n: any",
    ),
    structure(
        "leading zeros",
        """
void (uint8_t *out, const uint32_t *words, I n)
@for (I i = 0; i < n; i++)
    out[i] = __builtin_clz(words[i] | 1);
""",
        types=(("uint32_t", "uint32_t"),),
        weight=4,
        words="n: any",
    ),
    structure(
        "rotation",
        """
void (T *out, const T *x, I n)
@for (I i = 0; i < n; i++)
    out[i] = rotate(x[i], K) ^ x[i];
""",
        types=(("uint32_t", "uint32_t"), ("uint64_t", "uint64_t")),
        choices={"K": ("5", "8", "13")},
        prelude="""
static inline T rotate(T x, int by)
{
    return x << by | x >> (8 * (int)sizeof x - by);
}
""",
        weight=3,
        x="n: any",
    ),
    structure(
        "shift by element",
        """
void (T *out, const T *x, const uint8_t *by, I n)
@for (I i = 0; i < n; i++)
    out[i] = x[i] >> by[i];
""",
        types=UNSIGNED,
        weight=4,
        x="n: any",
        by="n: random 8",
    ),
    structure(
        "saturating sum",
        """
void (T *out, const T *a, const T *b, I n)
@for (I i = 0; i < n; i++) {
    T sum = a[i] + b[i];
    out[i] = sum < a[i] ? (T)-1 : sum;
}
""",
        types=UNSIGNED,
        weight=3,
        a="n: any",
        b="n: any",
    ),
    structure(
        "saturating difference",
        """
void (T *x, const T *y, I n)
@for (I i = 0; i < n; i++)
    x[i] = x[i] > y[i] ? x[i] - y[i] : 0;
""",
        types=UNSIGNED,
        weight=3,
        x="n: any",
        y="n: any",
    ),
    structure(
        "saturating samples",
        """
void (T *out, const T *a, const T *b, I n)
@for (I i = 0; i < n; i++)
    out[i] = limited(a[i] + b[i]);
""",
        types=NARROW,
        prelude="""
static T limited(int value)
{
    if (value > 50)
        return 50;
    if (value < 0)
        return 0;
    return (T)value;
}
""",
        weight=4,
    ),
    structure(
        "byte order",
        """
void (uint32_t *words, I n)
@for (I i = 0; i < n; i++) {
    uint32_t v = words[i];
    words[i] = v >> 24 | (v >> 8 & 0xff00u) | (v << 8 & 0xff0000u) | v << 24;
}
""",
        types=(("uint32_t", "uint32_t"),),
        words="n: any",
    ),
    structure(
        "words from bytes",
        """
void (uint32_t *words, const uint8_t *bytes, I n)
@for (I i = 0; i < n; i++)
    words[i] = bytes[4 * i] | bytes[4 * i + 1] << 8 | bytes[4 * i + 2] << 16 | (uint32_t)bytes[4 * i + 3] << 24;
""",
        types=(("uint32_t", "uint32_t"),),
        weight=4,
        bytes="4 * n: any",
    ),
    structure(
        "hash of keys",
        """
void (T *out, const T *keys, I n)
@for (I i = 0; i < n; i++) {
    T h = keys[i];
    h ^= h >> 15;
    h *= (T)0x2c1b3c6du;
    h ^= h >> 12;
    out[i] = h;
}
""",
        types=(("uint32_t", "uint32_t"), ("uint64_t", "uint64_t")),
        weight=3,
        keys="n: any",
    ),
    structure(
        "bit from bitmap",
        """
int (const uint32_t *bitmap, const int *index, I n)
int set = 0;
@for (I i = 0; i < n; i++)
    set += bitmap[index[i] >> 5] >> (index[i] & 31) & 1;
return set;
""",
        types=(("uint32_t", "uint32_t"),),
        choices={"K": ("64", "4096", "500000"), "P": ("random", "clustered")},
        weight=4,
        bitmap="K: any",
        index="n: P 32 * K",
    ),
    structure(
        "hamming distance",
        """
unsigned (const T *a, const T *b, I n)
unsigned distance = 0;
@for (I i = 0; i < n; i++)
    distance += __builtin_popcount(a[i] ^ b[i]);
return distance;
""",
        types=(("uint8_t", "uint8_t"), ("uint32_t", "uint32_t"), ("uint16_t", "uint16_t")),
        weight=4,
        a="n: any",
        b="n: any",
    ),
    structure(
        "masked merge",
        """
void (T *out, const T *a, const T *b, const T *mask, I n)
@for (I i = 0; i < n; i++)
    out[i] = (a[i] & mask[i]) | (b[i] & ~mask[i]);
""",
        types=UNSIGNED,
        mask="n: any",
    ),
    structure(
        "bits gathered to a word",
        """
T (const uint8_t *flag, I n)
T word = 0;
@for (I i = 0; i < n; i++)
    word |= (T)(flag[i] != 0) << (i & 7);
return word;
""",
        types=(("uint32_t", "uint32_t"), ("uint64_t", "uint64_t"), ("uint8_t", "uint8_t")),
        weight=3,
        flag="n: flags 30",
    ),
)
