"""Loops whose turns need the results of earlier turns."""

from __future__ import annotations

from mirenc.measure.loops.structure import structure
from mirenc.measure.loops.types import ALL, FLOATS, INTEGERS, UNSIGNED, WIDENING

__all__ = ["RECURRENCE"]

RECURRENCE = (
    structure(
        "recurrence at a distance",
        """
void (T *x, const T *b, I n)
@for (I i = 0; i < n; i++)
    x[i + D] = x[i] / 2 + b[i];
""",
        choices={"D": ("1", "2", "3", "4", "4", "5", "6", "7", "8", "8", "12", "16", "16", "24", "32")},
        weight=4,
        x="n + D",
    ),
    structure(
        "far recurrence in place",
        """
void (T *x, I n)
@for (I i = D; i < n + D; i++)
    x[i] ^= x[i - D];
""",
        types=UNSIGNED,
        choices={"D": ("2", "3", "4", "6", "8", "15", "16", "31", "32")},
        weight=4,
        x="n + D",
    ),
    structure(
        "backward dependence",
        """
void (T *x, const T *b, I n)
@for (I i = 0; i < n; i++)
    x[i] = x[i + D] + b[i];
""",
        choices={"D": ("1", "2", "4", "8")},
        types=UNSIGNED,
        weight=3,
        x="n + D",
    ),
    structure(
        "prefix sum",
        """
void (T *out, const T *x, I n)
T total = 0;
@for (I i = 0; i < n; i++) {
    total += x[i];
    out[i] = total;
}
""",
        weight=3,
        types=(*UNSIGNED, *FLOATS),
    ),
    structure(
        "running maximum",
        """
void (T *out, const T *x, I n)
T best = x[0];
@for (I i = 0; i < n; i++) {
    best = x[i] > best ? x[i] : best;
    out[i] = best;
}
""",
        x="n: any",
    ),
    structure(
        "exponential smoothing",
        """
void (T *out, const T *x, T share, I n)
T level = x[0];
@for (I i = 0; i < n; i++) {
    level += share * (x[i] - level);
    out[i] = level;
}
""",
        types=FLOATS,
        weight=3,
        share="0.25",
    ),
    structure(
        "differences",
        """
void (T *out, const T *x, I n)
T last = 0;
@for (I i = 0; i < n; i++) {
    out[i] = x[i] - last;
    last = x[i];
}
""",
        types=ALL,
        weight=4,
    ),
    structure(
        "second differences",
        """
void (T *out, const T *x, I n)
T last = 0, before = 0;
@for (I i = 0; i < n; i++) {
    out[i] = x[i] - 2 * last + before;
    before = last;
    last = x[i];
}
""",
        weight=4,
    ),
    structure(
        "differences in place, downward",
        """
void (T *x, const T *y, J n)
@for (J i = n; i > 0; i--)
    x[i] = y[i] - y[i - 1];
""",
        weight=3,
        x="n + 1",
        y="n + 1",
    ),
    structure(
        "two-term filter",
        """
void (T *y, const T *x, I n)
@for (I i = 2; i < n + 2; i++)
    y[i] = x[i] + (T)0.5 * y[i - 1] - (T)0.25 * y[i - 2];
""",
        types=FLOATS,
        trip="n",
        y="n + 2",
        x="n + 2",
    ),
    structure(
        "shift register",
        """
T (const T *x, I n)
T state = 1;
@for (I i = 0; i < n; i++)
    state = (state << 1 | state >> 3) ^ x[i];
return state;
""",
        types=(("uint32_t", "uint32_t"), ("uint64_t", "uint64_t"), ("uint8_t", "uint8_t")),
        x="n: any",
    ),
    structure(
        "random numbers added",
        """
void (T *x, uint32_t seed, I n)
@for (I i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u;
    x[i] ^= seed >> 16;
}
""",
        types=UNSIGNED,
        rows=False,
        seed="12345u",
        weight=3,
    ),
    structure(
        "sum to the right neighbour",
        """
void (T *x, I n)
@for (I i = 0; i + 1 < n; i++)
    x[i + 1] += x[i];
""",
        types=UNSIGNED,
        trip="n - 1",
    ),
    structure(
        "two arrays, one behind",
        """
void (T *a, T *b, const T *c, I n)
@for (I i = 1; i < n; i++) {
    a[i] = c[i] + 1;
    b[i] = a[i - 1] - c[i];
}
""",
        trip="n - 1",
        weight=4,
    ),
    structure(
        "two arrays, one ahead",
        """
void (T *a, T *b, const T *c, I n)
@for (I i = 0; i + 1 < n; i++) {
    b[i] = a[i + 1] + c[i];
    a[i] = c[i] * c[i];
}
""",
        trip="n - 1",
        weight=4,
    ),
    structure(
        "carried scalar widened",
        """
void (U *out, const T *x, I n)
U carry = 0;
@for (I i = 0; i < n; i++) {
    out[i] = carry + x[i];
    carry = x[i];
}
""",
        types=WIDENING,
        weight=4,
    ),
    structure(
        "runtime distance",
        """
void (T *x, I lag, I n)
@for (I i = 0; i < n; i++)
    x[i + lag] ^= x[i];
""",
        types=INTEGERS,
        choices={"D": ("1", "4", "16", "64")},
        weight=3,
        constant=False,
        rows=False,
        x="n + D",
        lag="D",
    ),
)
