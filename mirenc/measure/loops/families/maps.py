"""An element from elements at the same place."""

from __future__ import annotations

from mirenc.measure.loops.structure import structure
from mirenc.measure.loops.types import FLOATS, INTEGERS, UNSIGNED

__all__ = ["MAPS"]

MAPS = (
    structure(
        "add",
        """
void (T *sum, const T *a, const T *b, I n)
@for (I i = 0; i < n; i++)
    sum[i] = a[i] + b[i];
""",
    ),
    structure(
        "scaled add in place",
        """
void (T *y, const T *x, T alpha, T beta, I n)
@for (I i = 0; i < n; i++)
    y[i] = alpha * x[i] + beta * y[i];
""",
        types=FLOATS,
        alpha="0.75",
        beta="0.5",
    ),
    structure(
        "multiply add",
        """
void (T *out, const T *a, const T *b, const T *c, I n)
@for (I i = 0; i < n; ++i)
    out[i] = a[i] * b[i] + c[i];
""",
    ),
    structure(
        "xor in place",
        """
void (T *block, const T *key, I n)
@for (I i = 0; i < n; i++)
    block[i] ^= key[i];
""",
        types=INTEGERS,
    ),
    structure(
        "average",
        """
void (T *out, const T *a, const T *b, I n)
@for (I i = 0; i < n; i++)
    out[i] = (a[i] + b[i] + 1) >> 1;
""",
        types=INTEGERS,
    ),
    structure(
        "sum and difference",
        """
void (T *sum, T *difference, const T *a, const T *b, I n)
@for (I i = 0; i < n; i++) {
    sum[i] = a[i] + b[i];
    difference[i] = a[i] - b[i];
}
""",
    ),
    structure(
        "polynomial",
        """
void (T *out, const T *x, I n)
@for (I i = 0; i < n; i++) {
    T v = x[i];
    out[i] = ((((3 * v + 2) * v + 5) * v + 1) * v + 7) * v + 4;
}
""",
        types=(*FLOATS, ("uint32_t", "uint32_t"), ("uint64_t", "uint64_t"), ("uint8_t", "uint8_t")),
    ),
    structure(
        "counter added",
        """
void (T *out, const T *x, I n)
@for (I i = 0; i < n; i++)
    out[i] = x[i] + (T)(K * i);
""",
        types=(*UNSIGNED, *FLOATS),
        choices={"K": ("1", "3", "7")},
    ),
    structure(
        "walking pointers",
        """
void (T *out, const T *a, const T *b, I n)
@while (n--) {
    *out++ = *a++ - *b++;
}
""",
        rows=False,
        constant=False,
        trip="",
    ),
    structure(
        "five streams",
        """
void (T *out, const T *a, const T *b, const T *c, const T *d, const T *e, I n)
@for (I i = 0; i < n; i++)
    out[i] = a[i] * b[i] + c[i] * d[i] - e[i];
""",
    ),
    structure(
        "blend",
        """
void (T *out, const T *start, const T *end, T share, I n)
@for (I i = 0; i < n; i++)
    out[i] = start[i] + (end[i] - start[i]) * share;
""",
        types=FLOATS,
        share="0.3",
    ),
    structure(
        "divide",
        """
void (T *out, const T *a, const T *b, I n)
@for (I i = 0; i < n; i++)
    out[i] = a[i] / b[i];
""",
        weight=3,
        b="n: positive",
    ),
    structure(
        "divide by parameter",
        """
void (T *out, const T *a, T step, I n)
@for (I i = 0; i < n; i++)
    out[i] = (a[i] / step) * step;
""",
        step="7",
    ),
    structure(
        "remainder",
        """
void (T *out, const T *a, T modulus, I n)
@for (I i = 0; i < n; i++)
    out[i] = a[i] % modulus;
""",
        types=INTEGERS,
        modulus="13",
    ),
    structure(
        "swap",
        """
void (T *a, T *b, I n)
@for (I i = 0; i < n; i++) {
    T old = a[i];
    a[i] = b[i];
    b[i] = old;
}
""",
    ),
    structure(
        "unrolled by hand",
        """
void (T *out, const T *a, const T *b, I n)
@for (I i = 0; i + 3 < n; i += 4) {
    out[i] = a[i] + b[i];
    out[i + 1] = a[i + 1] + b[i + 1];
    out[i + 2] = a[i + 2] + b[i + 2];
    out[i + 3] = a[i + 3] + b[i + 3];
}
""",
        trip="n / 4",
    ),
    structure(
        "shift down in place",
        """
void (T *x, I n)
@for (I i = 0; i < n; i++)
    x[i] = x[i + 1] ^ K;
""",
        types=UNSIGNED,
        choices={"K": ("1", "5")},
        x="n + 1",
    ),
    structure(
        "running write position",
        """
void (T *out, const T *x, T first, T step, I n)
T value = first;
@for (I i = 0; i < n; i++) {
    out[i] = value * x[i];
    value += step;
}
""",
        types=(*UNSIGNED, *FLOATS),
        first="1",
        step="2",
    ),
    structure(
        "overlapping rows",
        """
void (T *to, const T *old, I n)
@for (I i = 0; i < n; i++)
    to[i] = old[i] ^ K;
""",
        types=UNSIGNED,
        choices={"K": ("1", "3"), "S": ("1", "4", "100")},
        rows=False,
        old="= to + S",
        to="n + S",
    ),
)
