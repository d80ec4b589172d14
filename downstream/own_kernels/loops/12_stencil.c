// An element from its neighbours.

// name: three points
// trip: n - 2
// weight: 3
void kernel(T *out, const T *x, I n)
{
    @for (I i = 1; i + 1 < n; i++)
        out[i] = (x[i - 1] + x[i] + x[i + 1]) / 3;
}

// name: five points weighted
// weight: 3
// x: n + 4
void kernel(T *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = x[i] + 4 * x[i + 1] + 6 * x[i + 2] + 4 * x[i + 3] + x[i + 4];
}

// name: widened three taps
// T: WIDENING
// weight: 4
// x: n + 2
void kernel(U *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = (U)x[i] + 2 * (U)x[i + 1] + (U)x[i + 2];
}

// name: eight taps
// T: FLOATS | uint32_t | int16_t
// weight: 3
// x: n + 7
// h: 8
void kernel(T *out, const T *x, const T *h, I n)
{
    @for (I i = 0; i < n; i++) {
        T total = 0;
        total += h[0] * x[i] + h[1] * x[i + 1];
        total += h[2] * x[i + 2] + h[3] * x[i + 3];
        total += h[4] * x[i + 4] + h[5] * x[i + 5];
        total += h[6] * x[i + 6] + h[7] * x[i + 7];
        out[i] = total;
    }
}

// name: five-point plane
// sizes: side
// trip: n - 2
// rows: no
// order: 2
// weight: 3
// out: n * n
// grid: n * n
void kernel(T *out, const T *grid, int n)
{
    for (int y = 1; y < n - 1; y++) {
        @for (int x = 1; x < n - 1; x++)
            out[y * n + x] = (grid[y * n - n + x] + grid[y * n + n + x] + grid[y * n + x - 1] + grid[y * n + x + 1]) / 4;
    }
}

// name: relaxation in place
// T: FLOATS
// sizes: side
// trip: n - 2
// rows: no
// order: 2
// weight: 1
// grid: n * n
void kernel(T *grid, int n)
{
    for (int y = 1; y < n - 1; y++) {
        @for (int x = 1; x < n - 1; x++)
            grid[y * n + x] = (grid[y * n - n + x] + grid[y * n + n + x] + grid[y * n + x - 1] + grid[y * n + x + 1]) / 4;
    }
}

// name: nine-point plane
// sizes: side
// trip: n - 2
// rows: no
// order: 2
// weight: 3
// out: n * n
// grid: n * n
// width: n
void kernel(T *out, const T *grid, int width, int n)
{
    for (int y = 1; y < n - 1; y++) {
        const T *above = grid + (y - 1) * width;
        const T *here = above + width;
        const T *below = here + width;
        @for (int x = 1; x < n - 1; x++)
            out[y * width + x] = above[x - 1] + above[x] + above[x + 1] + here[x - 1] - 8 * here[x] + here[x + 1]
                + below[x - 1] + below[x] + below[x + 1];
    }
}

// name: vertical blur
// rows: no
// weight: 3
// K: 16 | 100 | 640
// image: n + 2 * K
// stride: K
void kernel(T *out, const T *image, I stride, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = (image[i] + 2 * image[i + stride] + image[i + 2 * stride]) / 4;
}

// name: gradient magnitude
// T: uint8_t | uint16_t | int16_t | int
// sizes: side
// trip: n - 1
// rows: no
// order: 2
// weight: 4
// out: n * n
// image: n * n
void kernel(T *out, const T *image, int n)
{
    for (int y = 0; y + 1 < n; y++) {
        @for (int x = 0; x + 1 < n; x++) {
            int right = image[y * n + x + 1] - image[y * n + x];
            int down = image[y * n + n + x] - image[y * n + x];
            out[y * n + x] = (right < 0 ? -right : right) + (down < 0 ? -down : down);
        }
    }
}

// name: half-size image
// weight: 4
// top: 2 * n
// bottom: 2 * n
void kernel(T *out, const T *top, const T *bottom, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = (top[2 * i] + top[2 * i + 1] + bottom[2 * i] + bottom[2 * i + 1]) / 4;
}

// name: double-size row
// weight: 4
// out: 2 * n
// x: n + 1
void kernel(T *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++) {
        out[2 * i] = x[i];
        out[2 * i + 1] = (x[i] + x[i + 1]) / 2;
    }
}

// name: erosion
// trip: n - 2
// weight: 3
// x: n: any
void kernel(T *out, const T *x, I n)
{
    @for (I i = 1; i + 1 < n; i++) {
        T low = x[i - 1] < x[i] ? x[i - 1] : x[i];
        out[i] = x[i + 1] < low ? x[i + 1] : low;
    }
}

// name: life on a row
// T: uint8_t
// trip: n - 2
// weight: 4
// above: n: flags 40
// here: n: flags 40
// below: n: flags 40
void kernel(uint8_t *next_row, const uint8_t *above, const uint8_t *here, const uint8_t *below, I n)
{
    @for (I i = 1; i + 1 < n; i++) {
        int alive = above[i - 1] + above[i] + above[i + 1] + here[i - 1] + here[i + 1];
        alive += below[i - 1] + below[i] + below[i + 1];
        next_row[i] = alive == 3 || (here[i] && alive == 2);
    }
}

// name: wave step
// T: FLOATS
// trip: n - 2
// speed: 0.2
void kernel(T *next_wave, const T *wave, const T *last, T speed, I n)
{
    @for (I i = 1; i + 1 < n; i++)
        next_wave[i] = 2 * wave[i] - last[i] + speed * (wave[i + 1] - 2 * wave[i] + wave[i - 1]);
}

// name: moving sum
// T: UNSIGNED
// weight: 1
// K: 4 | 10
// x: n + K
void kernel(T *out, const T *x, I n)
{
    T total = 0;
    @for (I i = 0; i < n; i++) {
        total += x[i + K];
        total -= x[i];
        out[i] = total;
    }
}
