// Nests of two and three loops; the innermost is decided about.
// SUMMED is for sums of many products: whole numbers that may wrap, and floating ones.
// SUMMED: float | double | uint16_t | uint32_t | uint8_t | uint64_t
// sizes: side
// rows: no

// name: matrix times vector
// T: SUMMED
// weight: 3
// M: 8 | 30 | 100
// y: M
// a: M * n
// m: M
void kernel(T *y, const T *a, const T *x, I m, I n)
{
    for (I i = 0; i < m; i++) {
        T total = 0;
        @for (I j = 0; j < n; j++)
            total += a[i * n + j] * x[j];
        y[i] = total;
    }
}

// name: transposed matrix times vector
// T: SUMMED
// trip: unknown
// weight: 4
// M: 4 | 8 | 30 | 100
// a: M * n
// x: M
// m: M
void kernel(T *y, const T *a, const T *x, I m, I n)
{
    for (I j = 0; j < n; j++) {
        T total = 0;
        @for (I i = 0; i < m; i++)
            total += a[i * n + j] * x[i];
        y[j] += total;
    }
}

// name: outer product added
// T: SUMMED
// order: 2
// weight: 3
// a: n * n
void kernel(T *a, const T *x, const T *y, I n)
{
    for (I i = 0; i < n; i++) {
        @for (I j = 0; j < n; j++)
            a[i * n + j] += x[i] * y[j];
    }
}

// name: transpose
// order: 2
// weight: 4
// to: n * n
// source: n * n
void kernel(T *to, const T *source, I n)
{
    for (I i = 0; i < n; i++) {
        @for (I j = 0; j < n; j++)
            to[i * n + j] = source[j * n + i];
    }
}

// name: transpose by rows
// order: 2
// weight: 3
// to: n * n
// source: n * n
void kernel(T *to, const T *source, I n)
{
    for (I i = 0; i < n; i++) {
        @for (I j = 0; j < n; j++)
            to[j * n + i] = source[i * n + j];
    }
}

// name: matrix product, inner dot
// T: SUMMED
// sizes: small side
// order: 3
// weight: 4
// c: n * n
// a: n * n
// b: n * n
void kernel(T *c, const T *a, const T *b, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            T total = 0;
            @for (int k = 0; k < n; k++)
                total += a[i * n + k] * b[k * n + j];
            c[i * n + j] = total;
        }
}

// name: matrix product, inner row
// T: SUMMED
// sizes: small side
// order: 3
// weight: 4
// c: n * n
// a: n * n
// b: n * n
void kernel(T *c, const T *a, const T *b, int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            T factor = a[i * n + k];
            @for (int j = 0; j < n; j++)
                c[i * n + j] += factor * b[k * n + j];
        }
}

// name: matrix product of fixed size
// T: SUMMED
// sizes: fixed
// trip: N
// order: 3
// weight: 4
// N: 24 | 33 | 48 | 64
// c: N * N
// a: N * N
// b: N * N
void kernel(T c[N][N], T a[N][N], T b[N][N])
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            T total = 0;
            @for (int k = 0; k < N; k++)
                total += a[i][k] * b[k][j];
            c[i][j] = total;
        }
    }
}

// name: triangle of a matrix
// trip: unknown
// order: 2
// weight: 3
// a: n * n
// b: n * n
// scale: 3
void kernel(T *a, const T *b, T scale, I n)
{
    for (I i = 0; i < n; i++) {
        @for (I j = 0; j <= i; j++)
            a[i * n + j] = b[i * n + j] * scale;
    }
}

// name: upper triangle sum
// T: REDUCED
// trip: unknown
// order: 2
// weight: 4
// a: n * n
T kernel(const T *a, I n)
{
    T total = 0;
    for (I i = 0; i < n; i++) {
        @for (I j = i + 1; j < n; j++)
            total += a[i * n + j];
    }
    return total;
}

// name: forward substitution
// T: FLOATS
// trip: unknown
// constant: no
// order: 2
// weight: 1
// lower: n * n
void kernel(T *x, const T *lower, I n)
{
    for (I i = 0; i < n; i++) {
        T value = x[i];
        @for (I j = 0; j < i; j++)
            value -= lower[i * n + j] * x[j];
        x[i] = value / (T)n;
    }
}

// name: all pairs
// T: FLOATS
// order: 2
// weight: 3
void kernel(T *force, const T *x, const T *y, I n)
{
    for (I i = 0; i < n; i++) {
        T total = 0;
        @for (I j = 0; j < n; j++) {
            T dx = x[j] - x[i], dy = y[j] - y[i];
            total += dx / (dx * dx + dy * dy + 1);
        }
        force[i] = total;
    }
}

// name: column sums
// T: WIDENING_DEFINED
// weight: 4
// M: 8 | 30
// a: M * n
// m: M
void kernel(U *sums, const T *a, I m, I n)
{
    for (I i = 0; i < m; i++) {
        @for (I j = 0; j < n; j++)
            sums[j] += a[i * n + j];
    }
}

// name: ranks by counting
// order: 2
// weight: 4
// key: n: any
void kernel(int *rank, const T *key, I n)
{
    for (I i = 0; i < n; i++) {
        int below = 0;
        @for (I j = 0; j < n; j++)
            below += key[j] < key[i];
        rank[i] = below;
    }
}

// name: shortest paths
// T: int | float | uint32_t | double | uint16_t
// sizes: small side
// order: 3
// weight: 3
// distance: n * n: positive
void kernel(T *distance, int n)
{
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            @for (int j = 0; j < n; j++)
                if (distance[i * n + k] + distance[k * n + j] < distance[i * n + j])
                    distance[i * n + j] = distance[i * n + k] + distance[k * n + j];
}

// name: block of an image
// order: 2
// weight: 4
// to: n * n
// image: n * (n + 13)
// width: n + 13
void kernel(T *to, const T *image, int width, int n)
{
    for (int y = 0; y < n; y++) {
        @for (int x = 0; x < n; x++)
            to[y * n + x] = image[y * width + x] + 1;
    }
}

// name: symmetric update
// T: SUMMED
// trip: unknown
// order: 2
// weight: 3
// a: n * n
void kernel(T *a, const T *x, int n)
{
    for (int i = 0; i < n; i++) {
        @for (int j = i; j < n; j++)
            a[i * n + j] += x[i] * x[j];
    }
}

// name: pairwise table
// T: FLOATS | UNSIGNED
// weight: 3
// M: 4 | 16
// gain: M
// m: M
void kernel(T *best, const T *gain, const T *cost, I m, I n)
{
    for (I k = 0; k < m; k++) {
        @for (I w = 0; w < n; w++) {
            T with = best[w] + gain[k] - cost[w];
            best[w] = with > best[w] ? with : best[w];
        }
    }
}
