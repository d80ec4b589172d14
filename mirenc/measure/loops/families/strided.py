"""Elements that lie a step apart."""

from __future__ import annotations

from mirenc.measure.loops.structure import structure
from mirenc.measure.loops.types import ALL, FLOATS, UNSIGNED, WIDENING

__all__ = ["STRIDED"]

STEPS = ("2", "3", "4", "5", "6", "7", "8", "16")

STRIDED = (
    structure(
        "strided read",
        """
void (T *out, const T *x, I n)
@for (I i = 0; i < n; i++)
    out[i] = x[S * i];
""",
        choices={"S": STEPS},
        weight=4,
        x="S * n",
    ),
    structure(
        "strided write",
        """
void (T *out, const T *x, I n)
@for (I i = 0; i < n; i++)
    out[S * i] = x[i] + 1;
""",
        choices={"S": STEPS},
        weight=3,
        out="S * n",
    ),
    structure(
        "strided both",
        """
void (T *out, const T *x, I n)
@for (I i = 0; i < S * n; i += S)
    out[i] = x[i] + x[i];
""",
        choices={"S": ("2", "3", "4", "6")},
        weight=3,
        out="S * n",
        x="S * n",
    ),
    structure(
        "strided in place",
        """
void (T *x, T a, I n)
@for (I i = 0; i < n; i++)
    x[i * S] = a - x[i * S];
""",
        choices={"S": STEPS},
        weight=3,
        x="S * n",
        a="3",
    ),
    structure(
        "runtime stride read",
        """
void (T *out, const T *x, I stride, I n)
@for (I i = 0; i < n; i++)
    out[i] = x[i * stride] + 1;
""",
        choices={"S": ("1", "1", "2", "3", "8", "17")},
        weight=4,
        x="S * n",
        stride="S",
    ),
    structure(
        "runtime stride write",
        """
void (T *out, const T *x, I stride, I n)
@for (I i = 0; i < n; i++)
    out[i * stride] = x[i] * x[i];
""",
        choices={"S": ("1", "1", "2", "5")},
        weight=3,
        out="S * n",
        stride="S",
    ),
    structure(
        "reversed read",
        """
void (T *out, const T *x, I n)
@for (I i = 0; i < n; i++)
    out[i] = x[n - 1 - i] + 1;
""",
        weight=3,
    ),
    structure(
        "downward loop",
        """
void (T *out, const T *a, const T *b, J n)
@for (J i = n - 1; i >= 0; i--)
    out[i] = a[i] + b[i];
""",
        types=(*ALL,),
        weight=3,
    ),
    structure(
        "both ends",
        """
void (T *out, const T *a, I n)
@for (I i = 0; i < n; i++)
    out[i] = a[i] + a[n - 1 - i];
""",
    ),
    structure(
        "half index",
        """
void (T *out, const T *x, I n)
@for (I i = 0; i < n; i++)
    out[i] = x[i / 2] + x[i];
""",
        weight=4,
    ),
    structure(
        "doubling",
        """
void (T *out, const T *x, I n)
@for (I i = 0; i < n; i++)
    out[i] = x[i >> 1];
""",
        weight=3,
    ),
    structure(
        "index modulo",
        """
void (T *out, const T *x, const T *pattern, I n)
@for (I i = 0; i < n; i++)
    out[i] = x[i] + pattern[i % K];
""",
        choices={"K": ("3", "4", "8", "10")},
        weight=3,
        pattern="K",
    ),
    structure(
        "strided sum",
        """
T (const T *x, I n)
T total = 0;
@for (I i = 0; i < n; i++)
    total += x[S * i];
return total;
""",
        choices={"S": STEPS},
        weight=4,
        x="S * n",
    ),
    structure(
        "strided dot product",
        """
T (const T *a, I step_a, const T *b, I step_b, I n)
T total = 0;
@for (I i = 0; i < n; i++)
    total += a[i * step_a] * b[i * step_b];
return total;
""",
        choices={"S": ("1", "2", "4"), "P": ("1", "1", "3")},
        weight=3,
        a="S * n",
        b="P * n",
        step_a="S",
        step_b="P",
    ),
    structure(
        "column of a matrix",
        """
void (T *out, const T *matrix, I width, I column, I n)
@for (I i = 0; i < n; i++)
    out[i] = matrix[i * width + column];
""",
        choices={"W": ("5", "16", "33", "100")},
        weight=3,
        matrix="W * n",
        width="W",
        column="W / 2",
    ),
    structure(
        "two strides",
        """
void (T *out, const T *a, const T *b, I n)
@for (I i = 0; i < n; i++)
    out[i] = a[S * i] - b[K * i];
""",
        choices={"S": ("2", "3"), "K": ("3", "4", "5")},
        weight=3,
        a="S * n",
        b="K * n",
    ),
    structure(
        "every other kept",
        """
void (T *x, I n)
@for (I i = 0; i < n; i++)
    x[2 * i + 1] = x[2 * i];
""",
        weight=3,
        x="2 * n",
    ),
    structure(
        "strided with widening",
        """
void (U *out, const T *x, I n)
@for (I i = 0; i < n; i++)
    out[i] = (U)x[S * i] + (U)1;
""",
        types=WIDENING,
        choices={"S": ("2", "3", "4")},
        weight=4,
        x="S * n",
    ),
    structure(
        "second induction variable",
        """
void (T *out, const T *x, I n)
I k = 0;
@for (I i = 0; i < n; i++) {
    out[i] = x[k] + x[i];
    k += S;
}
""",
        types=(*FLOATS, *UNSIGNED),
        choices={"S": ("2", "3", "5")},
        weight=3,
        x="S * n",
    ),
    structure(
        "pairwise sums",
        """
void (T *out, const T *x, I n)
@for (I i = 0; i < n; i++)
    out[i] = x[2 * i] + x[2 * i + 1];
""",
        weight=3,
        x="2 * n",
    ),
)
