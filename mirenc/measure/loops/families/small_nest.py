"""Nests whose innermost loop is short: a few channels, taps, neighbours or dimensions at each point."""

from __future__ import annotations

from mirenc.measure.loops.structure import structure
from mirenc.measure.loops.types import FLOATS, UNSIGNED, WIDENING

__all__ = ["SMALL_NEST"]

SHORT = ("2", "3", "3", "4", "4", "5", "6", "7", "8", "10", "12")
SUMMED = (*FLOATS, ("uint32_t", "uint32_t"), ("uint8_t", "uint8_t"), ("uint16_t", "uint16_t"))
WIDENED = tuple((a, b) for a, b in WIDENING if not b.startswith("i"))

SMALL_NEST = (
    structure(
        "small groups summed",
        """
void (T *out, const T *x, int width, int n)
for (int i = 0; i < n; i++) {
    T total = 0;
    @for (int k = 0; k < width; k++)
        total += x[i * width + k];
    out[i] = total;
}
""",
        choices={"K": SHORT},
        sizes="work",
        rows=False,
        trip="",
        weight=4,
        x="K * n",
        width="K",
    ),
    structure(
        "channels scaled",
        """
void (T *pixels, const T *gain, I channels, I n)
for (I i = 0; i < n; i++) {
    @for (I c = 0; c < channels; c++)
        pixels[i * channels + c] = gain[c] - pixels[i * channels + c];
}
""",
        choices={"K": SHORT},
        sizes="work",
        rows=False,
        trip="",
        weight=4,
        pixels="K * n",
        gain="K",
        channels="K",
    ),
    structure(
        "filter with few taps",
        """
void (T *out, const T *x, const T *tap, int taps, int n)
for (int i = 0; i < n; i++) {
    T total = 0;
    @for (int k = 0; k < taps; k++)
        total += tap[k] * x[i + k];
    out[i] = total;
}
""",
        types=SUMMED,
        choices={"K": (*SHORT, "16", "31")},
        sizes="work",
        rows=False,
        trip="",
        weight=4,
        x="n + K",
        tap="K",
        taps="K",
    ),
    structure(
        "filter with few taps, widened",
        """
void (U *out, const T *x, const T *tap, I taps, I n)
for (I i = 0; i < n; i++) {
    U total = 0;
    @for (I k = 0; k < taps; k++)
        total += (U)tap[k] * x[i + taps - 1 - k];
    out[i] = total;
}
""",
        types=WIDENING,
        choices={"K": (*SHORT, "16", "31")},
        sizes="work",
        rows=False,
        trip="",
        weight=4,
        x="n + K",
        tap="K",
        taps="K",
    ),
    structure(
        "distances of points",
        """
void (T *out, const T *point, const T *center, int dims, int n)
for (int i = 0; i < n; i++) {
    T total = 0;
    @for (int d = 0; d < dims; d++) {
        T gap = point[i * dims + d] - center[d];
        total += gap * gap;
    }
    out[i] = total;
}
""",
        types=SUMMED,
        choices={"K": SHORT},
        sizes="work",
        rows=False,
        trip="",
        weight=4,
        point="K * n",
        center="K",
        dims="K",
    ),
    structure(
        "small copies",
        """
void (T *out, const T *x, const int *index, I width, I n)
for (I i = 0; i < n; i++) {
    @for (I k = 0; k < width; k++)
        out[i * width + k] = x[index[i] * width + k] + 1;
}
""",
        choices={"K": SHORT},
        sizes="work",
        rows=False,
        trip="",
        weight=4,
        out="K * n",
        x="K * n",
        index="n: random n",
        width="K",
    ),
    structure(
        "planes to pixels",
        """
void (T *pixels, const T *planes, int channels, int n)
for (int i = 0; i < n; i++) {
    @for (int c = 0; c < channels; c++)
        pixels[i * channels + c] = planes[c * n + i];
}
""",
        choices={"K": SHORT},
        sizes="work",
        rows=False,
        trip="",
        weight=4,
        pixels="K * n",
        planes="K * n",
        channels="K",
    ),
    structure(
        "small windows maximum",
        """
void (T *out, const T *x, I width, I n)
for (I i = 0; i < n; i++) {
    T best = x[i];
    @for (I k = 1; k < width; k++)
        best = x[i + k] > best ? x[i + k] : best;
    out[i] = best;
}
""",
        choices={"K": SHORT},
        sizes="work",
        rows=False,
        trip="",
        weight=4,
        x="n + K: any",
        width="K",
    ),
    structure(
        "neighbours of nodes",
        """
void (T *out, const T *x, const int *neighbour, int degree, int n)
for (int i = 0; i < n; i++) {
    T total = 0;
    @for (int k = 0; k < degree; k++)
        total += x[neighbour[i * degree + k]];
    out[i] = total;
}
""",
        choices={"K": SHORT, "P": ("clustered", "random")},
        sizes="work",
        rows=False,
        trip="",
        weight=4,
        neighbour="K * n: P n",
        degree="K",
    ),
    structure(
        "rows of uneven length",
        """
void (T *data, const int *start, int n)
for (int i = 0; i < n; i++) {
    @for (int k = start[i]; k < start[i + 1]; k++)
        data[k] = data[k] ^ (T)i;
}
""",
        types=UNSIGNED,
        choices={"K": ("1", "2", "4", "8", "20")},
        sizes="work",
        rows=False,
        trip="",
        weight=4,
        data="2 * K * n",
        start="n + 1: starts K",
    ),
    structure(
        "small widened products",
        """
void (U *out, const T *a, const T *b, I width, I n)
for (I i = 0; i < n; i++) {
    U total = out[i];
    @for (I k = 0; k < width; k++)
        total += (U)a[i * width + k] * b[k];
    out[i] = total;
}
""",
        types=WIDENED,
        choices={"K": (*SHORT, "16", "20")},
        sizes="work",
        rows=False,
        trip="",
        weight=4,
        a="K * n",
        b="K",
        width="K",
    ),
    structure(
        "small matrices times vectors",
        """
void (T *out, const T *m, const T *x, int side, int n)
for (int p = 0; p < n; p++)
    for (int i = 0; i < side; i++) {
        T total = 0;
        @for (int j = 0; j < side; j++)
            total += m[i * side + j] * x[p * side + j];
        out[p * side + i] = total;
    }
""",
        types=SUMMED,
        choices={"K": ("2", "3", "4", "5", "6", "8")},
        sizes="work",
        rows=False,
        trip="",
        weight=4,
        out="K * n",
        m="K * K",
        x="K * n",
        side="K",
    ),
    structure(
        "nearest of few",
        """
void (int *which, const T *x, const T *center, int centers, int n)
for (int i = 0; i < n; i++) {
    int best = 0;
    T least = (x[i] - center[0]) * (x[i] - center[0]);
    @for (int k = 1; k < centers; k++) {
        T gap = (x[i] - center[k]) * (x[i] - center[k]);
        if (gap < least) {
            least = gap;
            best = k;
        }
    }
    which[i] = best;
}
""",
        types=(*FLOATS, ("int", "int"), ("int16_t", "int16_t")),
        choices={"K": SHORT},
        sizes="work",
        rows=False,
        trip="",
        weight=4,
        center="K",
        centers="K",
    ),
    structure(
        "bits of words unpacked",
        """
void (uint8_t *bit, const T *word, int bits, int n)
for (int i = 0; i < n; i++) {
    @for (int k = 0; k < bits; k++)
        bit[i * bits + k] = word[i] >> k & 1;
}
""",
        types=UNSIGNED,
        choices={"K": ("3", "4", "5", "7", "8")},
        sizes="work",
        rows=False,
        trip="",
        weight=4,
        bit="K * n",
        word="n: any",
        bits="K",
    ),
    structure(
        "small polynomial",
        """
void (T *out, const T *x, const T *coefficient, int degree, int n)
for (int i = 0; i < n; i++) {
    T value = 0;
    @for (int k = 0; k < degree; k++)
        value = value * x[i] + coefficient[k];
    out[i] = value;
}
""",
        types=FLOATS,
        choices={"K": SHORT},
        sizes="work",
        rows=False,
        trip="",
        weight=2,
        coefficient="K",
        degree="K",
    ),
)
