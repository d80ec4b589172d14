"""Elements whose place is read from an array."""

from __future__ import annotations

from mirenc.measure.loops.structure import structure
from mirenc.measure.loops.types import FLOATS, UNSIGNED, WIDENING

__all__ = ["GATHER"]

# Elements of the table: in the first cache, the second, the third, memory. Each pattern of indices meets each.
TABLES = ("256", "2000", "2000", "16384", "65536", "1000000", "8388608")
PATTERNS = ("identity", "clustered", "random", "random")
INDICES = ("int", "int", "uint32_t", "int64_t", "size_t")

GATHER = (
    structure(
        "gather",
        """
void (T *out, const T *table, const X *index, I n)
@for (I i = 0; i < n; i++)
    out[i] = table[index[i]];
""",
        choices={"X": INDICES, "K": TABLES, "P": PATTERNS},
        weight=4,
        table="K",
        index="n: P K",
    ),
    structure(
        "gathered sum",
        """
T (const T *table, const X *index, I n)
T total = 0;
@for (I i = 0; i < n; i++)
    total += table[index[i]];
return total;
""",
        choices={"X": INDICES, "K": TABLES, "P": PATTERNS},
        weight=4,
        table="K",
        index="n: P K",
    ),
    structure(
        "gathered dot product",
        """
T (const T *weights, const X *index, const T *x, I n)
T total = 0;
@for (I i = 0; i < n; i++)
    total += weights[i] * x[index[i]];
return total;
""",
        choices={"X": INDICES, "K": TABLES, "P": PATTERNS},
        weight=4,
        x="K",
        index="n: P K",
    ),
    structure(
        "gather and add",
        """
void (T *y, const T *x, const X *index, T a, I n)
@for (I i = 0; i < n; i++)
    y[i] = a * x[index[i]] + x[i];
""",
        choices={"X": INDICES, "P": PATTERNS},
        weight=4,
        index="n: P n",
        a="2",
    ),
    structure(
        "two gathers",
        """
void (T *out, const T *x, const X *left, const X *right, I n)
@for (I i = 0; i < n; i++)
    out[i] = x[left[i]] - x[right[i]];
""",
        choices={"X": INDICES, "K": TABLES, "P": PATTERNS},
        weight=4,
        x="K",
        left="n: P K",
        right="n: random K",
    ),
    structure(
        "index of index",
        """
void (T *out, const T *x, const X *outer, const X *inner, I n)
@for (I i = 0; i < n; i++)
    out[i] = x[inner[outer[i]]] + 1;
""",
        choices={"X": INDICES, "K": ("256", "2000", "65536"), "P": PATTERNS},
        weight=3,
        x="K",
        inner="K: P K",
        outer="n: random K",
    ),
    structure(
        "byte table",
        """
void (uint8_t *out, const uint8_t *symbol, const uint8_t *table, I n)
@for (I i = 0; i < n; i++)
    out[i] = table[symbol[i]];
""",
        types=(("uint8_t", "uint8_t"),),
        weight=3,
        table="256: any",
        symbol="n: any",
    ),
    structure(
        "table of wide values",
        """
void (U *out, const uint8_t *symbols, const U *table, I n)
@for (I i = 0; i < n; i++)
    out[i] = table[symbols[i]];
""",
        types=WIDENING,
        weight=4,
        table="256",
        symbols="n: any",
    ),
    structure(
        "masked table index",
        """
void (T *out, const uint32_t *keys, const T *table, I n)
@for (I i = 0; i < n; i++)
    out[i] = table[(keys[i] * 2654435761u >> 7) & (K - 1)];
""",
        choices={"K": ("256", "4096", "65536")},
        weight=4,
        table="K",
        keys="n: any",
    ),
    structure(
        "gather of pairs",
        """
void (T *out, const struct pair *points, const X *index, I n)
@for (I i = 0; i < n; i++)
    out[i] = points[index[i]].x + points[index[i]].y;
""",
        types=(*FLOATS, ("int", "int"), ("uint16_t", "uint16_t")),
        structs="""
struct pair {
    T x, y;
};
""",
        choices={"X": INDICES, "K": ("256", "2000", "65536"), "P": PATTERNS},
        weight=4,
        points="2 * K",
        index="n: P K",
    ),
    structure(
        "linear interpolation in a table",
        """
void (T *out, const T *table, const T *where, I n)
@for (I i = 0; i < n; i++) {
    int k = (int)where[i];
    T share = where[i] - k;
    out[i] = table[k] + share * (table[k + 1] - table[k]);
}
""",
        types=FLOATS,
        weight=4,
        table="102",
        where="n: percent",
    ),
    structure(
        "gathered maximum",
        """
T (const T *score, const X *index, I n)
T best = score[index[0]];
@for (I i = 0; i < n; i++)
    best = score[index[i]] > best ? score[index[i]] : best;
return best;
""",
        choices={"X": INDICES, "K": TABLES, "P": PATTERNS},
        weight=3,
        score="K: any",
        index="n: P K",
    ),
    structure(
        "gathered count",
        """
int (const T *keys, const uint8_t *marked, I n)
int count = 0;
@for (I i = 0; i < n; i++)
    count += marked[keys[i]];
return count;
""",
        types=(*UNSIGNED,),
        weight=4,
        marked="256: flags 30",
        keys="n: random 256",
    ),
    structure(
        "gather under condition",
        """
void (T *out, const T *x, const T *table, const X *index, T limit, I n)
@for (I i = 0; i < n; i++) {
    if (x[i] < limit)
        out[i] = table[index[i]];
}
""",
        choices={"X": INDICES, "K": ("256", "2000", "65536"), "P": ("1", "10", "50", "90", "99")},
        weight=4,
        x="n: percent",
        table="K",
        index="n: random K",
        limit="P",
    ),
    structure(
        "sparse row sums",
        """
void (T *y, const int *start, const int *column, const T *value, const T *x, int n)
for (int r = 0; r < n; r++) {
    T total = 0;
    @for (int k = start[r]; k < start[r + 1]; k++)
        total += value[k] * x[column[k]];
    y[r] = total;
}
""",
        sizes="work",
        rows=False,
        trip="",
        choices={"K": ("2", "4", "16", "60")},
        weight=4,
        start="n + 1: starts K",
        column="n * 2 * K: random n",
        value="n * 2 * K",
    ),
    structure(
        "sparse rows of power-law length",
        """
void (T *y, const int *start, const X *column, const T *x, int n)
for (int r = 0; r < n; r++) {
    T total = 0;
    @for (int k = start[r]; k < start[r + 1]; k++)
        total += x[column[k]];
    y[r] = total;
}
""",
        sizes="work",
        rows=False,
        trip="",
        choices={"X": ("int", "uint32_t", "int64_t"), "P": PATTERNS},
        weight=4,
        start="n + 1: powers",
        column="n * 64: P n",
    ),
    structure(
        "gather backward",
        """
void (T *out, const T *x, const X *index, I n)
@for (I i = 0; i < n; i++)
    out[n - 1 - i] = x[index[i]];
""",
        choices={"X": INDICES, "P": PATTERNS, "K": ("2000", "65536")},
        weight=3,
        x="K",
        index="n: P K",
    ),
    structure(
        "narrow indices",
        """
void (T *out, const T *palette, const X *index, I n)
@for (I i = 0; i < n; i++)
    out[i] = palette[index[i]] + 1;
""",
        choices={"X": ("uint8_t", "uint16_t")},
        weight=4,
        palette="256",
        index="n: random 256",
    ),
)
