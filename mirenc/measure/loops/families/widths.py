"""Elements of several widths in one loop."""

from __future__ import annotations

from mirenc.measure.loops.structure import structure
from mirenc.measure.loops.types import NARROW, NARROWING, WIDENING

__all__ = ["WIDTHS"]

FROM_SAMPLES = (
    ("int16_t", "float"),
    ("uint8_t", "float"),
    ("int", "double"),
    ("int8_t", "float"),
    ("uint16_t", "double"),
)
TO_SAMPLES = (("float", "int16_t"), ("float", "uint8_t"), ("double", "int16_t"), ("double", "int"), ("float", "int8_t"))

WIDTHS = (
    structure(
        "widen",
        """
void (U *out, const T *x, I n)
@for (I i = 0; i < n; i++)
    out[i] = x[i];
""",
        types=WIDENING,
        weight=4,
    ),
    structure(
        "narrow",
        """
void (U *out, const T *x, I n)
@for (I i = 0; i < n; i++)
    out[i] = (U)x[i];
""",
        types=NARROWING,
        weight=4,
        x="n: percent",
    ),
    structure(
        "widened product",
        """
void (U *out, const T *a, const T *b, I n)
@for (I i = 0; i < n; i++)
    out[i] = (U)a[i] * (U)b[i];
""",
        types=WIDENING,
        weight=4,
    ),
    structure(
        "widened sum of two widths",
        """
void (U *out, const T *x, const U *y, I n)
@for (I i = 0; i < n; i++)
    out[i] = x[i] + y[i];
""",
        types=WIDENING,
        weight=4,
    ),
    structure(
        "samples to numbers",
        """
void (U *out, const T *samples, U scale, I n)
@for (I i = 0; i < n; i++)
    out[i] = samples[i] * scale;
""",
        types=FROM_SAMPLES,
        weight=4,
        scale="0.03125",
    ),
    structure(
        "numbers to samples",
        """
void (U *out, const T *x, T scale, I n)
@for (I i = 0; i < n; i++) {
    T v = x[i] * scale;
    out[i] = v > 100 ? 100 : v < 0 ? 0 : (U)v;
}
""",
        types=TO_SAMPLES,
        weight=4,
        scale="1.5",
        x="n: any",
    ),
    structure(
        "fixed-point scaling",
        """
void (T *x, int factor, I n)
@for (I i = 0; i < n; i++)
    x[i] = (x[i] * factor + 128) >> 8;
""",
        types=NARROW,
        weight=4,
        factor="200",
    ),
    structure(
        "fixed-point mix",
        """
void (T *out, const T *a, const T *b, int share, I n)
@for (I i = 0; i < n; i++)
    out[i] = (T)((a[i] * (256 - share) + b[i] * share) >> 8);
""",
        types=NARROW,
        weight=4,
        share="77",
    ),
    structure(
        "packed halves",
        """
void (uint32_t *out, const uint16_t *low, const uint16_t *high, I n)
@for (I i = 0; i < n; i++)
    out[i] = (uint32_t)high[i] << 16 | low[i];
""",
        types=(("uint32_t", "uint32_t"),),
        weight=3,
        low="n: any",
        high="n: any",
    ),
    structure(
        "high half of a product",
        """
void (T *out, const T *a, const T *b, I n)
@for (I i = 0; i < n; i++)
    out[i] = (T)((U)a[i] * (U)b[i] >> K);
""",
        types=(("uint8_t", "uint16_t"), ("uint16_t", "uint32_t"), ("uint32_t", "uint64_t"), ("int16_t", "int")),
        choices={"K": ("4", "8")},
        weight=4,
    ),
    structure(
        "mixed accumulation",
        """
void (U *sum, const T *x, const uint8_t *weight_of, I n)
@for (I i = 0; i < n; i++)
    sum[i] += (U)(x[i] * weight_of[i]);
""",
        types=tuple((a, b) for a, b in WIDENING if not b.startswith("i")),
        weight=4,
    ),
    structure(
        "three widths",
        """
void (U *out, const uint8_t *a, const T *b, const U *c, I n)
@for (I i = 0; i < n; i++)
    out[i] = c[i] - a[i] * b[i];
""",
        types=(("int16_t", "int"), ("int", "int64_t"), ("int", "double"), ("float", "double"), ("int16_t", "float")),
        weight=4,
    ),
    structure(
        "mask of comparison",
        """
void (uint8_t *mask, const T *x, T limit, I n)
@for (I i = 0; i < n; i++)
    mask[i] = x[i] < limit;
""",
        weight=4,
        x="n: percent",
        limit="50",
    ),
    structure(
        "dequantized",
        """
void (U *out, const T *q, const U *scale, int zero, I n)
@for (I i = 0; i < n; i++)
    out[i] = (q[i] - zero) * scale[i / 32];
""",
        types=(("int8_t", "float"), ("uint8_t", "float"), ("int16_t", "double")),
        weight=4,
        scale="n / 32 + 1",
        zero="8",
    ),
    structure(
        "counter stored narrow",
        """
void (T *out, const U *x, I n)
@for (I i = 0; i < n; i++)
    out[i] = (T)(x[i] + (U)i);
""",
        types=(("uint8_t", "uint32_t"), ("uint16_t", "uint64_t"), ("uint8_t", "uint16_t"), ("uint32_t", "uint64_t")),
        weight=3,
    ),
    structure(
        "nibbles joined",
        """
void (uint8_t *out, const T *x, I n)
@for (I i = 0; i < n; i++)
    out[i] = (x[2 * i] & 15) | (x[2 * i + 1] & 15) << 4;
""",
        types=(("uint8_t", "uint8_t"), ("uint16_t", "uint16_t"), ("uint32_t", "uint32_t")),
        weight=4,
        x="2 * n",
    ),
    structure(
        "nibbles parted",
        """
void (T *out, const uint8_t *x, I n)
@for (I i = 0; i < n; i++) {
    out[2 * i] = x[i] & 15;
    out[2 * i + 1] = x[i] >> 4;
}
""",
        types=(("uint8_t", "uint8_t"), ("int16_t", "int16_t"), ("float", "float")),
        weight=4,
        out="2 * n",
        x="n: any",
    ),
)
