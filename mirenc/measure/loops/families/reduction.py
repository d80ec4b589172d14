"""A number from many."""

from __future__ import annotations

from mirenc.measure.loops.structure import structure
from mirenc.measure.loops.types import ALL, FLOATS, INTEGERS, SIGNED, UNSIGNED, WIDENING

__all__ = ["REDUCTION"]

REDUCTION = (
    structure(
        "sum",
        """
T (const T *x, I n)
T total = 0;
@for (I i = 0; i < n; i++)
    total += x[i];
return total;
""",
        types=(*ALL, *INTEGERS),
        weight=3,
    ),
    structure(
        "widening sum",
        """
U (const T *x, I n)
U total = 0;
@for (I i = 0; i < n; i++)
    total += x[i];
return total;
""",
        types=WIDENING,
        weight=4,
    ),
    structure(
        "product",
        """
T (const T *x, I n)
T product = 1;
@for (I i = 0; i < n; i++)
    product *= x[i];
return product;
""",
        types=(*FLOATS, ("uint32_t", "uint32_t"), ("uint64_t", "uint64_t"), ("uint8_t", "uint8_t")),
        weight=3,
        x="n: near",
    ),
    structure(
        "dot product",
        """
T (const T *a, const T *b, I n)
T total = 0;
@for (I i = 0; i < n; i++)
    total += a[i] * b[i];
return total;
""",
        types=(*ALL, *INTEGERS),
        weight=3,
    ),
    structure(
        "widening dot product",
        """
U (const T *a, const T *b, I n)
U total = 0;
@for (I i = 0; i < n; i++)
    total += (U)a[i] * b[i];
return total;
""",
        types=WIDENING,
        weight=4,
    ),
    structure(
        "maximum",
        """
T (const T *x, I n)
T best = x[0];
@for (I i = 1; i < n; i++)
    if (x[i] > best)
        best = x[i];
return best;
""",
        trip="n - 1",
        weight=3,
        x="n: any",
    ),
    structure(
        "minimum and maximum",
        """
void (T *range, const T *x, I n)
T low = x[0], high = x[0];
@for (I i = 0; i < n; i++) {
    low = x[i] < low ? x[i] : low;
    high = x[i] > high ? x[i] : high;
}
range[0] = low;
range[1] = high;
""",
        weight=3,
        rows=False,
        range="2",
        x="n: any",
    ),
    structure(
        "sum and sum of squares",
        """
void (T *moments, const T *x, I n)
T first = 0, second = 0;
@for (I i = 0; i < n; i++) {
    first += x[i];
    second += x[i] * x[i];
}
moments[0] = first;
moments[1] = second;
""",
        types=(*FLOATS, ("uint32_t", "uint32_t"), ("uint64_t", "uint64_t"), ("int64_t", "int64_t")),
        rows=False,
        weight=3,
        moments="2",
    ),
    structure(
        "sum of absolute differences",
        """
U (const T *a, const T *b, I n)
U total = 0;
@for (I i = 0; i < n; i++)
    total += a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
return total;
""",
        types=WIDENING,
        weight=4,
    ),
    structure(
        "squared distance",
        """
U (const T *a, const T *b, I n)
U total = 0;
@for (I i = 0; i < n; i++) {
    U d = (U)a[i] - (U)b[i];
    total += d * d;
}
return total;
""",
        types=WIDENING,
        weight=4,
    ),
    structure(
        "count above",
        """
C (const T *x, T limit, I n)
C count = 0;
@for (I i = 0; i < n; i++)
    count += x[i] > limit;
return count;
""",
        choices={"C": ("int", "size_t", "uint8_t", "unsigned"), "P": ("10", "50", "90")},
        weight=4,
        x="n: percent",
        limit="P",
    ),
    structure(
        "conditional sum",
        """
T (const T *x, const T *key, T limit, I n)
T total = 0;
@for (I i = 0; i < n; i++)
    if (key[i] < limit)
        total += x[i];
return total;
""",
        choices={"P": ("1", "10", "50", "90", "99")},
        weight=4,
        key="n: percent",
        limit="P",
    ),
    structure(
        "all bits seen",
        """
T (const T *x, I n)
T seen = 0;
@for (I i = 0; i < n; i++)
    seen |= x[i];
return seen;
""",
        types=INTEGERS,
    ),
    structure(
        "parity",
        """
T (const T *x, I n)
T parity = 0;
@for (I i = 0; i < n; i++)
    parity ^= x[i];
return parity;
""",
        types=INTEGERS,
    ),
    structure(
        "any above",
        """
int (const T *x, T limit, I n)
int any = 0;
@for (I i = 0; i < n; i++)
    if (x[i] > limit)
        any = 1;
return any;
""",
        choices={"P": ("50", "99", "100")},
        weight=3,
        x="n: percent",
        limit="P",
    ),
    structure(
        "four partial sums",
        """
T (const T *x, I n)
T s0 = 0, s1 = 0, s2 = 0, s3 = 0;
@for (I i = 0; i + 3 < n; i += 4) {
    s0 += x[i];
    s1 += x[i + 1];
    s2 += x[i + 2];
    s3 += x[i + 3];
}
return (s0 + s1) + (s2 + s3);
""",
        trip="n / 4",
        weight=4,
    ),
    structure(
        "weighted mean",
        """
T (const T *x, const T *share, I n)
T total = 0, shares = 1;
@for (I i = 0; i < n; i++) {
    total += x[i] * share[i];
    shares += share[i];
}
return total / (shares ? shares : 1);
""",
        weight=3,
        types=(*FLOATS, *UNSIGNED),
        share="n: positive",
    ),
    structure(
        "sum kept in memory",
        """
void (T *total, const T *x, I n)
@for (I i = 0; i < n; i++)
    *total += x[i];
""",
        types=(*UNSIGNED, *FLOATS),
        rows=False,
        weight=3,
        total="1",
    ),
    structure(
        "alternating sum",
        """
T (const T *x, I n)
T total = 0;
@for (I i = 0; i < n; i++)
    total += i & 1 ? -x[i] : x[i];
return total;
""",
        types=(*SIGNED, *FLOATS),
        weight=3,
    ),
    structure(
        "maximum of products",
        """
T (const T *a, const T *b, I n)
T best = 0;
@for (I i = 0; i < n; i++) {
    T p = a[i] * b[i];
    best = p > best ? p : best;
}
return best;
""",
        weight=3,
    ),
    structure(
        "checksum with positions",
        """
T (const uint8_t *x, I n)
T low = 1, high = 0;
@for (I i = 0; i < n; i++) {
    low += x[i];
    high += low;
}
return low ^ high;
""",
        types=(("uint32_t", "uint32_t"), ("uint64_t", "uint64_t"), ("uint16_t", "uint16_t")),
        weight=3,
        x="n: any",
    ),
)
