"""Stores whose place is read from an array, and histograms."""

from __future__ import annotations

from mirenc.measure.loops.structure import structure
from mirenc.measure.loops.types import ALL, UNSIGNED, WIDENING

__all__ = ["SCATTER"]

INDICES = ("int", "uint32_t", "int64_t")
PATTERNS = ("identity", "clustered", "random", "shuffled")

SCATTER = (
    structure(
        "scatter",
        """
void (T *out, const T *x, const X *index, I n)
@for (I i = 0; i < n; i++)
    out[index[i]] = x[i];
""",
        choices={"X": INDICES, "P": PATTERNS, "K": ("256", "2000", "65536", "4000000")},
        out="K",
        index="n: P K",
    ),
    structure(
        "scattered constant",
        """
void (T *flags, const X *index, I n)
@for (I i = 0; i < n; i++)
    flags[index[i]] = 1;
""",
        choices={"X": INDICES, "P": PATTERNS, "K": ("256", "2000", "65536")},
        flags="K: zero",
        index="n: P K",
    ),
    structure(
        "histogram",
        """
void (uint32_t *bins, const T *x, I n)
@for (I i = 0; i < n; i++)
    bins[x[i]]++;
""",
        types=UNSIGNED,
        choices={"P": ("random", "skewed", "clustered")},
        bins="256: zero",
        x="n: P 256",
    ),
    structure(
        "weighted histogram",
        """
void (T *bins, const uint8_t *x, const T *weight, I n)
@for (I i = 0; i < n; i++)
    bins[x[i]] += weight[i];
""",
        types=(("float", "float"), ("double", "double"), ("uint32_t", "uint32_t")),
        choices={"P": ("random", "skewed")},
        bins="256: zero",
        x="n: P 256",
    ),
    structure(
        "histogram of scaled values",
        """
void (uint32_t *bins, const T *x, T scale, I n)
@for (I i = 0; i < n; i++) {
    int bin = (int)(x[i] * scale);
    bins[bin] += 1;
}
""",
        types=(("float", "float"), ("double", "double")),
        bins="128: zero",
        x="n: percent",
        scale="0.5",
    ),
    structure(
        "permute records",
        """
void (T *to, const T *old, const X *place, I n)
@for (I i = 0; i < n; i++) {
    to[2 * place[i]] = old[2 * i];
    to[2 * place[i] + 1] = old[2 * i + 1];
}
""",
        choices={"X": INDICES, "P": ("identity", "random")},
        to="2 * n",
        old="2 * n",
        place="n: P n",
    ),
    structure(
        "scatter and gather",
        """
void (T *out, const T *x, const X *here, const X *there, I n)
@for (I i = 0; i < n; i++)
    out[there[i]] = x[here[i]];
""",
        choices={"X": INDICES, "P": PATTERNS, "K": ("2000", "65536")},
        out="K",
        x="K",
        here="n: P K",
        there="n: random K",
    ),
    structure(
        "bucket counts of digits",
        """
void (unsigned *count, const T *keys, unsigned shift, I n)
@for (I i = 0; i < n; i++)
    count[(keys[i] >> shift) & 15]++;
""",
        types=UNSIGNED,
        count="16: zero",
        keys="n: any",
        shift="4",
    ),
    structure(
        "edges add to nodes",
        """
void (U *node, const int *end, const T *value, I n)
@for (I i = 0; i < n; i++)
    node[end[i]] += value[i];
""",
        types=WIDENING,
        choices={"K": ("64", "2000", "65536")},
        node="K: zero",
        end="n: random K",
    ),
    structure(
        "store at bit-reversed places",
        """
void (T *out, const T *x, I n)
@for (I i = 0; i < n; i++)
    out[(i ^ (i >> 1)) & 4095] = x[i];
""",
        types=ALL,
        weight=3,
        out="4096",
    ),
)
