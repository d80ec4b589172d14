// Records of a few members side by side: complex numbers, pixels, structs.
// weight: 4

// name: complex product
// T: FLOATS | int16_t | int
// out: 2 * n
// a: 2 * n
// b: 2 * n
void kernel(T *out, const T *a, const T *b, I n)
{
    @for (I i = 0; i < n; i++) {
        T re = a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];
        T im = a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i];
        out[2 * i] = re;
        out[2 * i + 1] = im;
    }
}

// name: complex magnitude
// T: FLOATS | int | int16_t
// z: 2 * n
struct complex_number {
    T re, im;
};

void kernel(T *out, const struct complex_number *z, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = z[i].re * z[i].re + z[i].im * z[i].im;
}

// name: complex dot product
// T: FLOATS | int | int64_t
// rows: no
// out: 2
// a: 2 * n
// b: 2 * n
void kernel(T *out, const T *a, const T *b, I n)
{
    T re = 0, im = 0;
    @for (I i = 0; i < n; i++) {
        re += a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];
        im += a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i];
    }
    out[0] = re;
    out[1] = im;
}

// name: grey of colours
// T: NARROW | FLOATS | int
// rgb: 3 * n
void kernel(T *grey, const T *rgb, I n)
{
    @for (I i = 0; i < n; i++)
        grey[i] = (rgb[3 * i] * 5 + rgb[3 * i + 1] * 9 + rgb[3 * i + 2] * 2) / 16;
}

// name: colours reversed
// bgr: 3 * n
// rgb: 3 * n
void kernel(T *bgr, const T *rgb, I n)
{
    @for (I i = 0; i < n; i++) {
        bgr[3 * i] = rgb[3 * i + 2];
        bgr[3 * i + 1] = rgb[3 * i + 1];
        bgr[3 * i + 2] = rgb[3 * i];
    }
}

// name: planes from colours
// rgb: 3 * n
void kernel(T *red, T *green, T *blue, const T *rgb, I n)
{
    @for (I i = 0; i < n; i++) {
        red[i] = rgb[3 * i];
        green[i] = rgb[3 * i + 1];
        blue[i] = rgb[3 * i + 2];
    }
}

// name: colours from planes
// rgba: 4 * n
void kernel(T *rgba, const T *red, const T *green, const T *blue, I n)
{
    @for (I i = 0; i < n; i++) {
        rgba[4 * i] = red[i];
        rgba[4 * i + 1] = green[i];
        rgba[4 * i + 2] = blue[i];
        rgba[4 * i + 3] = 1;
    }
}

// name: alpha blending
// T: uint8_t
// under: 4 * n: any
// over: 4 * n: any
void kernel(uint8_t *under, const uint8_t *over, I n)
{
    @for (I i = 0; i < n; i++) {
        int alpha = over[4 * i + 3];
        under[4 * i] = (over[4 * i] * alpha + under[4 * i] * (255 - alpha)) / 255;
        under[4 * i + 1] = (over[4 * i + 1] * alpha + under[4 * i + 1] * (255 - alpha)) / 255;
        under[4 * i + 2] = (over[4 * i + 2] * alpha + under[4 * i + 2] * (255 - alpha)) / 255;
    }
}

// name: particles moved
// T: FLOATS
// p: 6 * n
// dt: 0.001
struct particle {
    T x, y, z, vx, vy, vz;
};

void kernel(struct particle *p, T dt, I n)
{
    @for (I i = 0; i < n; i++) {
        p[i].x += p[i].vx * dt;
        p[i].y += p[i].vy * dt;
        p[i].z += p[i].vz * dt;
    }
}

// name: one member of many
// T: FLOATS | UNSIGNED
// items: 5 * n
struct item {
    T id, price, stock, weight, color;
};

T kernel(const struct item *items, I n)
{
    T total = 0;
    @for (I i = 0; i < n; i++)
        total += items[i].price;
    return total;
}

// name: member times member
// T: FLOATS | UNSIGNED
// rows: no
// K: kind | kind, place | kind, place, size, weight, age
// items: 7 * n
struct item {
    T price, stock, K;
};

T kernel(const struct item *items, I n)
{
    T total = 0;
    @for (I i = 0; i < n; i++)
        total += items[i].price * items[i].stock;
    return total;
}

// name: member updated where flagged
// T: FLOATS | UNSIGNED | int
// P: 10 | 50 | 90
// cells: 2 * n: flags P
struct cell {
    T value, flag;
};

void kernel(struct cell *cells, I n)
{
    @for (I i = 0; i < n; i++) {
        if (cells[i].flag)
            cells[i].value = cells[i].value / 2 + cells[i].flag;
    }
}

// name: array of structs to arrays
// points: 4 * n
struct point {
    T x, y, z, w;
};

void kernel(T *x, T *y, const struct point *points, I n)
{
    @for (I i = 0; i < n; i++) {
        x[i] = points[i].x;
        y[i] = points[i].y;
    }
}

// name: cross products
// T: FLOATS | int
// c: 3 * n
// a: 3 * n
// b: 3 * n
void kernel(T *c, const T *a, const T *b, I n)
{
    @for (I i = 0; i < n; i++) {
        c[3 * i] = a[3 * i + 1] * b[3 * i + 2] - a[3 * i + 2] * b[3 * i + 1];
        c[3 * i + 1] = a[3 * i + 2] * b[3 * i] - a[3 * i] * b[3 * i + 2];
        c[3 * i + 2] = a[3 * i] * b[3 * i + 1] - a[3 * i + 1] * b[3 * i];
    }
}

// name: butterfly
// T: FLOATS
// rows: no
// weight: 3
// re: 2 * n
// im: 2 * n
// half: n
void kernel(T *re, T *im, I half, I n)
{
    @for (I i = 0; i < n; i++) {
        T a = re[i], b = re[i + half];
        T c = im[i], d = im[i + half];
        re[i] = (a + b) / 2;
        re[i + half] = (a - b) / 2;
        im[i] = (c + d) / 2;
        im[i + half] = (c - d) / 2;
    }
}

// name: zipped
// out: 2 * n
void kernel(T *out, const T *left, const T *right, I n)
{
    @for (I i = 0; i < n; i++) {
        out[2 * i] = left[i];
        out[2 * i + 1] = right[i];
    }
}

// name: swapped pairs
// x: 2 * n
void kernel(T *x, I n)
{
    @for (I i = 0; i < n; i++) {
        T old = x[2 * i];
        x[2 * i] = x[2 * i + 1];
        x[2 * i + 1] = old;
    }
}
