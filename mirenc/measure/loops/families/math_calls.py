"""Functions of math.h; errno is kept, as compilers do unless told otherwise."""

from __future__ import annotations

from mirenc.measure.loops.structure import structure
from mirenc.measure.loops.types import FLOATS

__all__ = ["MATH_CALLS"]

MATH_CALLS = (
    structure(
        "square roots",
        """
void (T *out, const T *x, I n)
@for (I i = 0; i < n; i++)
    out[i] = sqrt_F(x[i]);
""",
        types=FLOATS,
        x="n: positive",
    ),
    structure(
        "absolute values",
        """
void (T *out, const T *x, I n)
@for (I i = 0; i < n; i++)
    out[i] = fabs_F(x[i]);
""",
        types=FLOATS,
    ),
    structure(
        "absolute differences",
        """
T (const T *a, const T *b, I n)
T total = 0;
@for (I i = 0; i < n; i++)
    total += fabs_F(a[i] - b[i]);
return total;
""",
        types=FLOATS,
        weight=3,
    ),
    structure(
        "lengths of vectors",
        """
void (T *length, const T *x, const T *y, I n)
@for (I i = 0; i < n; i++)
    length[i] = sqrt_F(x[i] * x[i] + y[i] * y[i]);
""",
        types=FLOATS,
    ),
    structure(
        "exponentials",
        """
void (T *out, const T *x, T top, I n)
@for (I i = 0; i < n; i++)
    out[i] = exp_F(x[i] - top);
""",
        types=FLOATS,
        sizes="work",
        weight=1,
        top="1",
    ),
    structure(
        "powers",
        """
void (T *out, const T *x, T exponent, I n)
@for (I i = 0; i < n; i++)
    out[i] = pow_F(x[i], exponent);
""",
        types=FLOATS,
        sizes="work",
        weight=1,
        x="n: positive",
        exponent="1.7",
    ),
    structure(
        "rounding down",
        """
void (T *out, const T *x, T step, I n)
@for (I i = 0; i < n; i++)
    out[i] = floor_F(x[i] / step) * step;
""",
        types=FLOATS,
        weight=3,
        x="n: any",
        step="3",
    ),
    structure(
        "smaller of two",
        """
void (T *out, const T *a, const T *b, I n)
@for (I i = 0; i < n; i++)
    out[i] = fmin_F(a[i], b[i]);
""",
        types=FLOATS,
        weight=3,
    ),
    structure(
        "greatest magnitude",
        """
T (const T *x, I n)
T best = 0;
@for (I i = 0; i < n; i++)
    best = fmax_F(best, fabs_F(x[i]));
return best;
""",
        types=FLOATS,
        weight=3,
    ),
    structure(
        "logistic",
        """
void (T *out, const T *x, I n)
@for (I i = 0; i < n; i++)
    out[i] = 1 / (1 + exp_F(-x[i]));
""",
        types=FLOATS,
        sizes="work",
        weight=1,
    ),
    structure(
        "rational approximation",
        """
void (T *out, const T *x, I n)
@for (I i = 0; i < n; i++) {
    T v = x[i], square = v * v;
    out[i] = v * (27 + square) / (27 + 9 * square);
}
""",
        types=FLOATS,
        weight=3,
    ),
    structure(
        "truncated to whole",
        """
void (T *out, const T *x, I n)
@for (I i = 0; i < n; i++)
    out[i] = x[i] - trunc_F(x[i]);
""",
        types=FLOATS,
        weight=3,
        x="n: any",
    ),
    structure(
        "integer magnitudes",
        """
int (const T *x, I n)
int total = 0;
@for (I i = 0; i < n; i++)
    total += abs(x[i]);
return total;
""",
        types=(("int8_t", "int8_t"), ("int16_t", "int16_t"), ("int", "int")),
        weight=4,
    ),
    structure(
        "reciprocal distances",
        """
T (const T *x, const T *y, T soft, I n)
T total = 0;
@for (I i = 0; i < n; i++)
    total += 1 / (x[i] * x[i] + y[i] * y[i] + soft);
return total;
""",
        types=FLOATS,
        weight=3,
        soft="0.01",
    ),
    structure(
        "sines summed",
        """
T (const T *x, I n)
T total = 0;
@for (I i = 0; i < n; i++)
    total += sin_F(x[i]) * x[i];
return total;
""",
        types=FLOATS,
        sizes="work",
        weight=1,
    ),
)
