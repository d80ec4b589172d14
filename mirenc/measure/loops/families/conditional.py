"""Loops with branches."""

from __future__ import annotations

from mirenc.measure.loops.structure import structure
from mirenc.measure.loops.types import ALL, FLOATS, INTEGERS, SIGNED, UNSIGNED, WIDENING

__all__ = ["CONDITIONAL"]

# The condition holds for so many of a hundred elements.
PERCENT = ("1", "10", "50", "50", "90", "99")

CONDITIONAL = (
    structure(
        "conditional store",
        """
void (T *out, const T *x, T limit, I n)
@for (I i = 0; i < n; i++) {
    if (x[i] < limit)
        out[i] = x[i];
}
""",
        choices={"P": PERCENT},
        weight=4,
        x="n: percent",
        limit="P",
    ),
    structure(
        "conditional update",
        """
void (T *y, const T *x, const T *key, T limit, I n)
@for (I i = 0; i < n; i++) {
    if (key[i] < limit)
        y[i] = x[i] + x[i] / 4;
}
""",
        choices={"P": PERCENT},
        weight=4,
        key="n: percent",
        limit="P",
    ),
    structure(
        "if else",
        """
void (T *out, const T *x, const T *y, T limit, I n)
@for (I i = 0; i < n; i++) {
    if (x[i] < limit)
        out[i] = y[i] * 2;
    else
        out[i] = x[i] - y[i];
}
""",
        choices={"P": PERCENT},
        weight=4,
        x="n: percent",
        limit="P",
    ),
    structure(
        "select",
        """
void (T *out, const T *a, const T *b, const uint8_t *mask, I n)
@for (I i = 0; i < n; i++)
    out[i] = mask[i] ? a[i] : b[i];
""",
        choices={"P": PERCENT},
        weight=4,
        mask="n: flags P",
    ),
    structure(
        "branch to two arrays",
        """
void (T *low, T *high, const T *x, T limit, I n)
@for (I i = 0; i < n; i++) {
    if (x[i] < limit)
        low[i] = x[i];
    else
        high[i] = x[i];
}
""",
        choices={"P": PERCENT},
        weight=4,
        x="n: percent",
        limit="P",
    ),
    structure(
        "clamp",
        """
void (T *x, T low, T high, I n)
@for (I i = 0; i < n; i++) {
    if (x[i] < low)
        x[i] = low;
    else if (x[i] > high)
        x[i] = high;
}
""",
        weight=3,
        x="n: percent",
        low="20",
        high="80",
    ),
    structure(
        "rectifier",
        """
void (T *out, const T *x, I n)
@for (I i = 0; i < n; i++)
    out[i] = x[i] > 0 ? x[i] : 0;
""",
        types=(*SIGNED, *FLOATS),
    ),
    structure(
        "guarded division",
        """
void (T *out, const T *a, const T *b, I n)
@for (I i = 0; i < n; i++) {
    if (b[i] != 0)
        out[i] = a[i] / b[i];
}
""",
        types=ALL,
        choices={"P": PERCENT},
        weight=4,
        a="n: positive",
        b="n: flags P",
    ),
    structure(
        "nested conditions",
        """
void (T *out, const T *x, const T *y, T limit, I n)
@for (I i = 0; i < n; i++) {
    if (x[i] < limit) {
        if (y[i] < x[i])
            out[i] = y[i];
        else
            out[i] = x[i] + 1;
    }
}
""",
        choices={"P": PERCENT},
        weight=4,
        x="n: percent",
        y="n: percent",
        limit="P",
    ),
    structure(
        "switch",
        """
void (T *out, const T *x, const uint8_t *kind, I n)
@for (I i = 0; i < n; i++) {
    switch (kind[i]) {
    case 0:
        out[i] = x[i];
        break;
    case 1:
        out[i] = x[i] + x[i];
        break;
    case 2:
        out[i] = x[i] - 3;
        break;
    default:
        out[i] = 0;
    }
}
""",
        choices={"P": ("random", "skewed", "clustered")},
        weight=3,
        kind="n: P 4",
    ),
    structure(
        "condition on flags of another width",
        """
void (U *out, const U *x, const T *flag, I n)
@for (I i = 0; i < n; i++) {
    if (flag[i])
        out[i] += x[i];
}
""",
        types=tuple((a, b) for a, b in WIDENING if not b.startswith("i")),
        choices={"P": PERCENT},
        weight=4,
        flag="n: flags P",
    ),
    structure(
        "skip with continue",
        """
void (T *out, const T *x, const T *y, I n)
@for (I i = 0; i < n; i++) {
    if (x[i] == y[i])
        continue;
    out[i] = x[i] > y[i] ? x[i] - y[i] : y[i] - x[i];
}
""",
        choices={"P": PERCENT},
        weight=4,
        x="n: flags P",
        y="n: flags 50",
    ),
    structure(
        "compact",
        """
int (T *out, const T *x, T limit, int n)
int kept = 0;
@for (int i = 0; i < n; i++) {
    if (x[i] < limit)
        out[kept++] = x[i];
}
return kept;
""",
        choices={"P": PERCENT},
        rows=False,
        x="n: percent",
        limit="P",
    ),
    structure(
        "invariant condition",
        """
void (T *out, const T *a, const T *b, int subtract, I n)
@for (I i = 0; i < n; i++) {
    if (subtract)
        out[i] = a[i] - b[i];
    else
        out[i] = a[i] + b[i];
}
""",
        choices={"P": ("0", "1")},
        subtract="P",
    ),
    structure(
        "count and store",
        """
int (T *x, T limit, int n)
int count = 0;
@for (int i = 0; i < n; i++) {
    if (x[i] > limit) {
        x[i] = limit;
        count++;
    }
}
return count;
""",
        choices={"P": ("1", "10", "50", "90")},
        weight=4,
        x="n: percent",
        limit="P",
    ),
    structure(
        "piecewise function",
        """
void (T *out, const T *x, I n)
@for (I i = 0; i < n; i++) {
    T v = x[i];
    if (v < 25)
        out[i] = v * v;
    else if (v < 75)
        out[i] = 2 * v + 1;
    else
        out[i] = 100 - v;
}
""",
        weight=4,
        x="n: percent",
    ),
    structure(
        "cyclic condition",
        """
void (T *out, const T *x, I n)
@for (I i = 0; i < n; i++) {
    if (i % K == 0)
        out[i] = x[i] + 1;
    else
        out[i] = x[i];
}
""",
        choices={"K": ("2", "3", "4", "7")},
        weight=3,
    ),
    structure(
        "swap where greater",
        """
void (T *low, T *high, I n)
@for (I i = 0; i < n; i++) {
    if (low[i] > high[i]) {
        T old = low[i];
        low[i] = high[i];
        high[i] = old;
    }
}
""",
        weight=4,
        low="n: any",
        high="n: any",
    ),
    structure(
        "rare repair",
        """
void (T *x, const T *left, const T *right, I n)
@for (I i = 0; i < n; i++) {
    if (x[i] == 0)
        x[i] = left[i] / 2 + right[i] / 2;
}
""",
        choices={"P": ("50", "90", "99")},
        weight=4,
        x="n: flags P",
        left="n: positive",
        right="n: positive",
    ),
    structure(
        "two masks",
        """
void (T *out, const uint8_t *a, const uint8_t *b, const T *x, I n)
@for (I i = 0; i < n; i++) {
    if (a[i] && !b[i])
        out[i] = x[i];
}
""",
        choices={"P": PERCENT},
        types=(*INTEGERS, *FLOATS),
        weight=4,
        a="n: flags P",
        b="n: flags 20",
    ),
    structure(
        "saturating counter",
        """
void (T *counter, const uint8_t *taken, I n)
@for (I i = 0; i < n; i++) {
    if (taken[i]) {
        if (counter[i] < 3)
            counter[i]++;
    } else if (counter[i] > 0) {
        counter[i]--;
    }
}
""",
        types=(*UNSIGNED, *SIGNED),
        choices={"P": PERCENT},
        weight=3,
        counter="n: random 4",
        taken="n: flags P",
    ),
)
