"""Nests of two and three loops; the innermost is decided about."""

from __future__ import annotations

from mirenc.measure.loops.structure import structure
from mirenc.measure.loops.types import ALL, FLOATS, UNSIGNED, WIDENING

__all__ = ["NEST"]

# Sums of products of many: whole numbers that may wrap, and floating ones.
SUMMED = (*FLOATS, ("uint32_t", "uint32_t"), ("uint8_t", "uint8_t"), ("uint64_t", "uint64_t"))

NEST = (
    structure(
        "matrix times vector",
        """
void (T *y, const T *a, const T *x, I m, I n)
for (I i = 0; i < m; i++) {
    T total = 0;
    @for (I j = 0; j < n; j++)
        total += a[i * n + j] * x[j];
    y[i] = total;
}
""",
        types=SUMMED,
        choices={"M": ("8", "30", "100")},
        sizes="side",
        rows=False,
        weight=3,
        y="M",
        a="M * n",
        m="M",
    ),
    structure(
        "transposed matrix times vector",
        """
void (T *y, const T *a, const T *x, I m, I n)
for (I j = 0; j < n; j++) {
    T total = 0;
    @for (I i = 0; i < m; i++)
        total += a[i * n + j] * x[i];
    y[j] += total;
}
""",
        types=SUMMED,
        choices={"M": ("4", "8", "30", "100")},
        sizes="side",
        rows=False,
        trip="",
        weight=4,
        a="M * n",
        x="M",
        m="M",
    ),
    structure(
        "outer product added",
        """
void (T *a, const T *x, const T *y, I n)
for (I i = 0; i < n; i++) {
    @for (I j = 0; j < n; j++)
        a[i * n + j] += x[i] * y[j];
}
""",
        types=SUMMED,
        sizes="side",
        rows=False,
        order=2,
        weight=3,
        a="n * n",
    ),
    structure(
        "transpose",
        """
void (T *to, const T *source, I n)
for (I i = 0; i < n; i++) {
    @for (I j = 0; j < n; j++)
        to[i * n + j] = source[j * n + i];
}
""",
        sizes="side",
        rows=False,
        order=2,
        weight=4,
        to="n * n",
        source="n * n",
    ),
    structure(
        "transpose by rows",
        """
void (T *to, const T *source, I n)
for (I i = 0; i < n; i++) {
    @for (I j = 0; j < n; j++)
        to[j * n + i] = source[i * n + j];
}
""",
        sizes="side",
        rows=False,
        order=2,
        weight=3,
        to="n * n",
        source="n * n",
    ),
    structure(
        "matrix product, inner dot",
        """
void (T *c, const T *a, const T *b, int n)
for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
        T total = 0;
        @for (int k = 0; k < n; k++)
            total += a[i * n + k] * b[k * n + j];
        c[i * n + j] = total;
    }
""",
        types=SUMMED,
        sizes="small side",
        rows=False,
        order=3,
        weight=4,
        c="n * n",
        a="n * n",
        b="n * n",
    ),
    structure(
        "matrix product, inner row",
        """
void (T *c, const T *a, const T *b, int n)
for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
        T factor = a[i * n + k];
        @for (int j = 0; j < n; j++)
            c[i * n + j] += factor * b[k * n + j];
    }
""",
        types=SUMMED,
        sizes="small side",
        rows=False,
        order=3,
        weight=4,
        c="n * n",
        a="n * n",
        b="n * n",
    ),
    structure(
        "matrix product of fixed size",
        """
void (T c[N][N], T a[N][N], T b[N][N])
for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
        T total = 0;
        @for (int k = 0; k < N; k++)
            total += a[i][k] * b[k][j];
        c[i][j] = total;
    }
}
""",
        types=SUMMED,
        choices={"N": ("24", "33", "48", "64")},
        sizes="fixed",
        rows=False,
        order=3,
        trip="N",
        weight=4,
        c="N * N",
        a="N * N",
        b="N * N",
    ),
    structure(
        "triangle of a matrix",
        """
void (T *a, const T *b, T scale, I n)
for (I i = 0; i < n; i++) {
    @for (I j = 0; j <= i; j++)
        a[i * n + j] = b[i * n + j] * scale;
}
""",
        sizes="side",
        rows=False,
        trip="",
        order=2,
        weight=3,
        a="n * n",
        b="n * n",
        scale="3",
    ),
    structure(
        "upper triangle sum",
        """
T (const T *a, I n)
T total = 0;
for (I i = 0; i < n; i++) {
    @for (I j = i + 1; j < n; j++)
        total += a[i * n + j];
}
return total;
""",
        sizes="side",
        rows=False,
        trip="",
        order=2,
        weight=4,
        a="n * n",
    ),
    structure(
        "forward substitution",
        """
void (T *x, const T *lower, I n)
for (I i = 0; i < n; i++) {
    T value = x[i];
    @for (I j = 0; j < i; j++)
        value -= lower[i * n + j] * x[j];
    x[i] = value / (T)n;
}
""",
        types=FLOATS,
        sizes="side",
        rows=False,
        trip="",
        constant=False,
        order=2,
        weight=3,
        lower="n * n",
    ),
    structure(
        "all pairs",
        """
void (T *force, const T *x, const T *y, I n)
for (I i = 0; i < n; i++) {
    T total = 0;
    @for (I j = 0; j < n; j++) {
        T dx = x[j] - x[i], dy = y[j] - y[i];
        total += dx / (dx * dx + dy * dy + 1);
    }
    force[i] = total;
}
""",
        types=FLOATS,
        sizes="side",
        rows=False,
        order=2,
        weight=3,
    ),
    structure(
        "column sums",
        """
void (U *sums, const T *a, I m, I n)
for (I i = 0; i < m; i++) {
    @for (I j = 0; j < n; j++)
        sums[j] += a[i * n + j];
}
""",
        types=tuple((a, b) for a, b in WIDENING if not b.startswith("i")),
        choices={"M": ("8", "30")},
        sizes="side",
        rows=False,
        weight=4,
        a="M * n",
        m="M",
    ),
    structure(
        "ranks by counting",
        """
void (int *rank, const T *key, I n)
for (I i = 0; i < n; i++) {
    int below = 0;
    @for (I j = 0; j < n; j++)
        below += key[j] < key[i];
    rank[i] = below;
}
""",
        types=ALL,
        sizes="side",
        rows=False,
        order=2,
        weight=4,
        key="n: any",
    ),
    structure(
        "shortest paths",
        """
void (T *distance, int n)
for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
        @for (int j = 0; j < n; j++)
            if (distance[i * n + k] + distance[k * n + j] < distance[i * n + j])
                distance[i * n + j] = distance[i * n + k] + distance[k * n + j];
""",
        types=(
            ("int", "int"),
            ("float", "float"),
            ("uint32_t", "uint32_t"),
            ("double", "double"),
            ("uint16_t", "uint16_t"),
        ),
        sizes="small side",
        rows=False,
        order=3,
        weight=3,
        distance="n * n: positive",
    ),
    structure(
        "block of an image",
        """
void (T *to, const T *image, int width, int n)
for (int y = 0; y < n; y++) {
    @for (int x = 0; x < n; x++)
        to[y * n + x] = image[y * width + x] + 1;
}
""",
        sizes="side",
        rows=False,
        order=2,
        weight=4,
        to="n * n",
        image="n * (n + 13)",
        width="n + 13",
    ),
    structure(
        "symmetric update",
        """
void (T *a, const T *x, int n)
for (int i = 0; i < n; i++) {
    @for (int j = i; j < n; j++)
        a[i * n + j] += x[i] * x[j];
}
""",
        types=SUMMED,
        sizes="side",
        rows=False,
        trip="",
        order=2,
        weight=3,
        a="n * n",
    ),
    structure(
        "pairwise table",
        """
void (T *best, const T *gain, const T *cost, I m, I n)
for (I k = 0; k < m; k++) {
    @for (I w = 0; w < n; w++) {
        T with = best[w] + gain[k] - cost[w];
        best[w] = with > best[w] ? with : best[w];
    }
}
""",
        types=(*FLOATS, *UNSIGNED),
        choices={"M": ("4", "16")},
        sizes="side",
        rows=False,
        weight=3,
        gain="M",
        m="M",
    ),
)
