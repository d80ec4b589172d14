"""Places and first hits: loops whose value is an index, and loops that stop early."""

from __future__ import annotations

from mirenc.measure.loops.structure import structure
from mirenc.measure.loops.types import ALL, INTEGERS

__all__ = ["SEARCH"]

# Where the hit is: early, in the middle, nowhere.
HITS = ("n / 8", "n / 2", "n - 1", "n")

SEARCH = (
    structure(
        "place of minimum",
        """
I (const T *x, I n)
I best = 0;
@for (I i = 1; i < n; i++)
    if (x[i] < x[best])
        best = i;
return best;
""",
        trip="n - 1",
        weight=3,
        x="n: any",
    ),
    structure(
        "minimum with place",
        """
int (const T *x, T *low, int n)
T best = x[0];
int place = 0;
@for (int i = 0; i < n; i++) {
    if (x[i] < best) {
        best = x[i];
        place = i;
    }
}
*low = best;
return place;
""",
        rows=False,
        weight=3,
        x="n: any",
        low="1",
    ),
    structure(
        "last place of value",
        """
J (const T *x, T value, J n)
J place = -1;
@for (J i = 0; i < n; i++)
    if (x[i] == value)
        place = i;
return place;
""",
        types=INTEGERS,
        weight=4,
        x="n: percent",
        value="7",
    ),
    structure(
        "first nonzero",
        """
I (const T *x, I n)
I i;
@for (i = 0; i < n; i++)
    if (x[i] != 0)
        break;
return i;
""",
        choices={"H": HITS},
        trip="",
        constant=False,
        weight=2,
        x="n: only H",
    ),
    structure(
        "equal arrays",
        """
int (const T *a, const T *b, I n)
@for (I i = 0; i < n; i++)
    if (a[i] != b[i])
        return 0;
return 1;
""",
        choices={"H": HITS},
        trip="",
        rows=False,
        a="n: only H",
        b="n: zero",
    ),
    structure(
        "sorted so far",
        """
I (const T *x, I n)
I i = 1;
@while (i < n && x[i - 1] <= x[i])
    i++;
return i;
""",
        types=(
            ("int", "int"),
            ("uint32_t", "uint32_t"),
            ("float", "float"),
            ("double", "double"),
            ("int64_t", "int64_t"),
        ),
        trip="",
        x="n: sorted",
    ),
    structure(
        "sum until budget",
        """
T (const T *cost, T budget, I n)
T spent = 0;
@for (I i = 0; i < n; i++) {
    if (spent > budget)
        break;
    spent += cost[i];
}
return spent;
""",
        types=(("uint32_t", "uint32_t"), ("float", "float"), ("double", "double"), ("uint64_t", "uint64_t")),
        trip="",
        cost="n: positive",
        budget="n * 5",
    ),
    structure(
        "copy until zero",
        """
I (T *out, const T *x, I n)
I i;
@for (i = 0; i < n; i++) {
    if (x[i] == 0)
        break;
    out[i] = x[i] + 1;
}
return i;
""",
        types=ALL,
        trip="",
        rows=False,
        x="n: positive",
    ),
    structure(
        "count of sign changes",
        """
int (const T *x, I n)
int changes = 0;
@for (I i = 0; i + 1 < n; i++)
    changes += (x[i] < 0) != (x[i + 1] < 0);
return changes;
""",
        types=(("int8_t", "int8_t"), ("int16_t", "int16_t"), ("int", "int"), ("float", "float"), ("double", "double")),
        trip="n - 1",
        weight=4,
    ),
    structure(
        "mismatches",
        """
C (const T *a, const T *b, I n)
C wrong = 0;
@for (I i = 0; i < n; i++)
    if (a[i] != b[i])
        wrong++;
return wrong;
""",
        choices={"C": ("int", "size_t", "uint16_t")},
        weight=4,
        a="n: flags 30",
        b="n: flags 30",
    ),
    structure(
        "maximum of magnitudes with place",
        """
int (const T *x, int n)
T best = 0;
int place = 0;
@for (int i = 0; i < n; i++) {
    T size = x[i] < 0 ? -x[i] : x[i];
    if (size > best) {
        best = size;
        place = i;
    }
}
return place;
""",
        types=(("int", "int"), ("float", "float"), ("double", "double"), ("int16_t", "int16_t")),
        weight=3,
        x="n",
    ),
    structure(
        "two exits",
        """
int (const T *x, T low, T high, int n)
@for (int i = 0; i < n; i++) {
    if (x[i] < low)
        return i;
    if (x[i] > high)
        return -i;
}
return n;
""",
        choices={"H": ("100", "99")},
        trip="",
        rows=False,
        weight=1,
        x="n: percent",
        low="0",
        high="H",
    ),
)
