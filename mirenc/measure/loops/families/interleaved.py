"""Records of a few members side by side: complex numbers, pixels, structs."""

from __future__ import annotations

from mirenc.measure.loops.structure import structure
from mirenc.measure.loops.types import FLOATS, NARROW, UNSIGNED, WIDENING

__all__ = ["INTERLEAVED"]

INTERLEAVED = (
    structure(
        "complex product",
        """
void (T *out, const T *a, const T *b, I n)
@for (I i = 0; i < n; i++) {
    T re = a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];
    T im = a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i];
    out[2 * i] = re;
    out[2 * i + 1] = im;
}
""",
        types=(*FLOATS, ("int16_t", "int16_t"), ("int", "int")),
        weight=4,
        out="2 * n",
        a="2 * n",
        b="2 * n",
    ),
    structure(
        "complex magnitude",
        """
void (T *out, const struct complex_number *z, I n)
@for (I i = 0; i < n; i++)
    out[i] = z[i].re * z[i].re + z[i].im * z[i].im;
""",
        types=(*FLOATS, ("int", "int"), ("int16_t", "int16_t")),
        structs="""
struct complex_number {
    T re, im;
};
""",
        weight=4,
        z="2 * n",
    ),
    structure(
        "complex dot product",
        """
void (T *out, const T *a, const T *b, I n)
T re = 0, im = 0;
@for (I i = 0; i < n; i++) {
    re += a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];
    im += a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i];
}
out[0] = re;
out[1] = im;
""",
        types=(*FLOATS, ("int", "int"), ("int64_t", "int64_t")),
        rows=False,
        weight=4,
        out="2",
        a="2 * n",
        b="2 * n",
    ),
    structure(
        "grey of colours",
        """
void (T *grey, const T *rgb, I n)
@for (I i = 0; i < n; i++)
    grey[i] = (rgb[3 * i] * 5 + rgb[3 * i + 1] * 9 + rgb[3 * i + 2] * 2) / 16;
""",
        types=(*NARROW, *FLOATS, ("int", "int")),
        weight=4,
        rgb="3 * n",
    ),
    structure(
        "colours reversed",
        """
void (T *bgr, const T *rgb, I n)
@for (I i = 0; i < n; i++) {
    bgr[3 * i] = rgb[3 * i + 2];
    bgr[3 * i + 1] = rgb[3 * i + 1];
    bgr[3 * i + 2] = rgb[3 * i];
}
""",
        weight=4,
        bgr="3 * n",
        rgb="3 * n",
    ),
    structure(
        "planes from colours",
        """
void (T *red, T *green, T *blue, const T *rgb, I n)
@for (I i = 0; i < n; i++) {
    red[i] = rgb[3 * i];
    green[i] = rgb[3 * i + 1];
    blue[i] = rgb[3 * i + 2];
}
""",
        weight=4,
        rgb="3 * n",
    ),
    structure(
        "colours from planes",
        """
void (T *rgba, const T *red, const T *green, const T *blue, I n)
@for (I i = 0; i < n; i++) {
    rgba[4 * i] = red[i];
    rgba[4 * i + 1] = green[i];
    rgba[4 * i + 2] = blue[i];
    rgba[4 * i + 3] = 1;
}
""",
        weight=4,
        rgba="4 * n",
    ),
    structure(
        "alpha blending",
        """
void (uint8_t *under, const uint8_t *over, I n)
@for (I i = 0; i < n; i++) {
    int alpha = over[4 * i + 3];
    under[4 * i] = (over[4 * i] * alpha + under[4 * i] * (255 - alpha)) / 255;
    under[4 * i + 1] = (over[4 * i + 1] * alpha + under[4 * i + 1] * (255 - alpha)) / 255;
    under[4 * i + 2] = (over[4 * i + 2] * alpha + under[4 * i + 2] * (255 - alpha)) / 255;
}
""",
        types=(("uint8_t", "uint8_t"),),
        weight=4,
        under="4 * n: any",
        over="4 * n: any",
    ),
    structure(
        "particles moved",
        """
void (struct particle *p, T dt, I n)
@for (I i = 0; i < n; i++) {
    p[i].x += p[i].vx * dt;
    p[i].y += p[i].vy * dt;
    p[i].z += p[i].vz * dt;
}
""",
        types=FLOATS,
        structs="""
struct particle {
    T x, y, z, vx, vy, vz;
};
""",
        weight=4,
        p="6 * n",
        dt="0.001",
    ),
    structure(
        "one member of many",
        """
T (const struct item *items, I n)
T total = 0;
@for (I i = 0; i < n; i++)
    total += items[i].price;
return total;
""",
        types=(*FLOATS, *UNSIGNED),
        structs="""
struct item {
    T id, price, stock, weight, color;
};
""",
        weight=4,
        items="5 * n",
    ),
    structure(
        "member times member",
        """
T (const struct item *items, I n)
T total = 0;
@for (I i = 0; i < n; i++)
    total += items[i].price * items[i].stock;
return total;
""",
        types=(*FLOATS, *UNSIGNED),
        structs="""
struct item {
    T price, stock, K;
};
""",
        choices={"K": ("kind", "kind, place", "kind, place, size, weight, age")},
        weight=4,
        rows=False,
        items="7 * n",
    ),
    structure(
        "member updated where flagged",
        """
void (struct cell *cells, I n)
@for (I i = 0; i < n; i++) {
    if (cells[i].flag)
        cells[i].value = cells[i].value / 2 + cells[i].flag;
}
""",
        types=(*FLOATS, *UNSIGNED, ("int", "int")),
        structs="""
struct cell {
    T value, flag;
};
""",
        choices={"P": ("10", "50", "90")},
        weight=4,
        cells="2 * n: flags P",
    ),
    structure(
        "array of structs to arrays",
        """
void (T *x, T *y, const struct point *points, I n)
@for (I i = 0; i < n; i++) {
    x[i] = points[i].x;
    y[i] = points[i].y;
}
""",
        structs="""
struct point {
    T x, y, z, w;
};
""",
        weight=4,
        points="4 * n",
    ),
    structure(
        "cross products",
        """
void (T *c, const T *a, const T *b, I n)
@for (I i = 0; i < n; i++) {
    c[3 * i] = a[3 * i + 1] * b[3 * i + 2] - a[3 * i + 2] * b[3 * i + 1];
    c[3 * i + 1] = a[3 * i + 2] * b[3 * i] - a[3 * i] * b[3 * i + 2];
    c[3 * i + 2] = a[3 * i] * b[3 * i + 1] - a[3 * i + 1] * b[3 * i];
}
""",
        types=(*FLOATS, ("int", "int")),
        weight=4,
        c="3 * n",
        a="3 * n",
        b="3 * n",
    ),
    structure(
        "butterfly",
        """
void (T *re, T *im, I half, I n)
@for (I i = 0; i < n; i++) {
    T a = re[i], b = re[i + half];
    T c = im[i], d = im[i + half];
    re[i] = (a + b) / 2;
    re[i + half] = (a - b) / 2;
    im[i] = (c + d) / 2;
    im[i + half] = (c - d) / 2;
}
""",
        types=FLOATS,
        weight=3,
        rows=False,
        re="2 * n",
        im="2 * n",
        half="n",
    ),
    structure(
        "stereo mixed",
        """
void (U *mono, const T *stereo, I n)
@for (I i = 0; i < n; i++)
    mono[i] = (U)stereo[2 * i] + (U)stereo[2 * i + 1];
""",
        types=WIDENING,
        weight=4,
        stereo="2 * n",
    ),
    structure(
        "zipped",
        """
void (T *out, const T *left, const T *right, I n)
@for (I i = 0; i < n; i++) {
    out[2 * i] = left[i];
    out[2 * i + 1] = right[i];
}
""",
        weight=4,
        out="2 * n",
    ),
    structure(
        "swapped pairs",
        """
void (T *x, I n)
@for (I i = 0; i < n; i++) {
    T old = x[2 * i];
    x[2 * i] = x[2 * i + 1];
    x[2 * i + 1] = old;
}
""",
        weight=4,
        x="2 * n",
    ),
)
