// Nests whose innermost loop is short: a few channels, taps, neighbours or dimensions at each point.
// SUMMED: float | uint32_t | uint8_t | uint16_t
// SHORT: 2 | 3 | 3 | 4 | 4 | 5 | 6 | 7 | 8 | 10 | 12
// sizes: work
// trip: unknown
// rows: no
// weight: 4

// name: small groups summed
// T: REDUCED
// K: SHORT
// x: K * n
// width: K
void kernel(T *out, const T *x, int width, int n)
{
    for (int i = 0; i < n; i++) {
        T total = 0;
        @for (int k = 0; k < width; k++)
            total += x[i * width + k];
        out[i] = total;
    }
}

// name: channels scaled
// K: SHORT
// pixels: K * n
// gain: K
// channels: K
void kernel(T *pixels, const T *gain, I channels, I n)
{
    for (I i = 0; i < n; i++) {
        @for (I c = 0; c < channels; c++)
            pixels[i * channels + c] = gain[c] - pixels[i * channels + c];
    }
}

// name: filter with few taps
// T: SUMMED
// K: SHORT | 16 | 31
// x: n + K
// tap: K
// taps: K
void kernel(T *out, const T *x, const T *tap, int taps, int n)
{
    for (int i = 0; i < n; i++) {
        T total = 0;
        @for (int k = 0; k < taps; k++)
            total += tap[k] * x[i + k];
        out[i] = total;
    }
}

// name: filter with few taps, widened
// T: WIDENED
// K: SHORT | 16 | 31
// x: n + K
// tap: K
// taps: K
void kernel(U *out, const T *x, const T *tap, I taps, I n)
{
    for (I i = 0; i < n; i++) {
        U total = 0;
        @for (I k = 0; k < taps; k++)
            total += (U)tap[k] * x[i + taps - 1 - k];
        out[i] = total;
    }
}

// name: distances of points
// T: SUMMED
// K: SHORT
// point: K * n
// center: K
// dims: K
void kernel(T *out, const T *point, const T *center, int dims, int n)
{
    for (int i = 0; i < n; i++) {
        T total = 0;
        @for (int d = 0; d < dims; d++) {
            T gap = point[i * dims + d] - center[d];
            total += gap * gap;
        }
        out[i] = total;
    }
}

// name: small copies
// K: SHORT
// out: K * n
// x: K * n
// index: n: random n
// width: K
void kernel(T *out, const T *x, const int *index, I width, I n)
{
    for (I i = 0; i < n; i++) {
        @for (I k = 0; k < width; k++)
            out[i * width + k] = x[index[i] * width + k] + 1;
    }
}

// name: planes to pixels
// K: SHORT
// pixels: K * n
// planes: K * n
// channels: K
void kernel(T *pixels, const T *planes, int channels, int n)
{
    for (int i = 0; i < n; i++) {
        @for (int c = 0; c < channels; c++)
            pixels[i * channels + c] = planes[c * n + i];
    }
}

// name: small windows maximum
// T: REDUCED
// K: SHORT
// x: n + K: any
// width: K
void kernel(T *out, const T *x, I width, I n)
{
    for (I i = 0; i < n; i++) {
        T best = x[i];
        @for (I k = 1; k < width; k++)
            best = x[i + k] > best ? x[i + k] : best;
        out[i] = best;
    }
}

// name: neighbours of nodes
// T: REDUCED
// K: SHORT
// P: clustered | random
// neighbour: K * n: P n
// degree: K
void kernel(T *out, const T *x, const int *neighbour, int degree, int n)
{
    for (int i = 0; i < n; i++) {
        T total = 0;
        @for (int k = 0; k < degree; k++)
            total += x[neighbour[i * degree + k]];
        out[i] = total;
    }
}

// name: rows of uneven length
// T: UNSIGNED
// K: 1 | 2 | 4 | 8 | 20
// data: 2 * K * n
// start: n + 1: starts K
void kernel(T *data, const int *start, int n)
{
    for (int i = 0; i < n; i++) {
        @for (int k = start[i]; k < start[i + 1]; k++)
            data[k] = data[k] ^ (T)i;
    }
}

// name: small widened products
// T: WIDENED
// K: SHORT | 16 | 20
// a: K * n
// b: K
// width: K
void kernel(U *out, const T *a, const T *b, I width, I n)
{
    for (I i = 0; i < n; i++) {
        U total = out[i];
        @for (I k = 0; k < width; k++)
            total += (U)a[i * width + k] * b[k];
        out[i] = total;
    }
}

// name: small matrices times vectors
// T: SUMMED
// K: 2 | 3 | 4 | 5 | 6 | 8
// out: K * n
// m: K * K
// x: K * n
// side: K
void kernel(T *out, const T *m, const T *x, int side, int n)
{
    for (int p = 0; p < n; p++)
        for (int i = 0; i < side; i++) {
            T total = 0;
            @for (int j = 0; j < side; j++)
                total += m[i * side + j] * x[p * side + j];
            out[p * side + i] = total;
        }
}

// name: nearest of few
// T: FLOATS | int | int16_t
// weight: 1
// K: SHORT
// center: K
// centers: K
void kernel(int *which, const T *x, const T *center, int centers, int n)
{
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
}

// name: bits of words unpacked
// T: UNSIGNED
// K: 3 | 4 | 5 | 7 | 8
// bit: K * n
// word: n: any
// bits: K
void kernel(uint8_t *bit, const T *word, int bits, int n)
{
    for (int i = 0; i < n; i++) {
        @for (int k = 0; k < bits; k++)
            bit[i * bits + k] = word[i] >> k & 1;
    }
}

// name: small polynomial
// T: FLOATS
// weight: 1
// K: SHORT
// coefficient: K
// degree: K
void kernel(T *out, const T *x, const T *coefficient, int degree, int n)
{
    for (int i = 0; i < n; i++) {
        T value = 0;
        @for (int k = 0; k < degree; k++)
            value = value * x[i] + coefficient[k];
        out[i] = value;
    }
}
