// Dense matrices.

// name: matmul
// items: n, n
// sizes: product
// T: float | double | int
// a: n * n
// b: n * n
// c: n * n
__kernel void matmul(__global const T *a, __global const T *b, __global T *c, const int n)
{
    const int column = get_global_id(0);
    const int row = get_global_id(1);
    if (row >= n || column >= n)
        return;
    T sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

// name: matmul_tiled
// items: n, n
// sizes: product
// T: float | double
// a: n * n
// b: n * n
// c: n * n
// tiles: 16 * (bx + by)
__kernel void matmul_tiled(__global const T *a, __global const T *b, __global T *c, __local T *tiles, const int n)
{
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int bx = get_local_size(0), by = get_local_size(1);
    const int column = get_group_id(0) * bx + lx;
    const int row = get_group_id(1) * by + ly;
    __local T *a_tile = tiles;
    __local T *b_tile = tiles + 16 * by;
    T sum = 0;
    for (int k0 = 0; k0 < n; k0 += 16) {
        for (int k = lx; k < 16; k += bx)
            a_tile[ly * 16 + k] = row < n && k0 + k < n ? a[row * n + k0 + k] : 0;
        for (int k = ly; k < 16; k += by)
            b_tile[k * bx + lx] = column < n && k0 + k < n ? b[(k0 + k) * n + column] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++)
            sum += a_tile[ly * 16 + k] * b_tile[k * bx + lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < n && column < n)
        c[row * n + column] = sum;
}

// name: matmul_row
// items: n
// sizes: product
// T: float
// a: n * n
// b: n * n
// c: n * n
__kernel void matmul_row(__global const T *a, __global const T *b, __global T *c, const int n)
{
    const int row = get_global_id(0);
    if (row >= n)
        return;
    for (int j = 0; j < n; j++) {
        T sum = 0;
        for (int k = 0; k < n; k++)
            sum += a[row * n + k] * b[k * n + j];
        c[row * n + j] = sum;
    }
}

// name: matmul_four_columns
// items: n // 4, n
// sizes: product
// T: float | double
// a: n * n
// b: n * n
// c: n * n
__kernel void matmul_four_columns(__global const T *a, __global const T *b, __global T *c, const int n)
{
    const int first = get_global_id(0) * 4;
    const int row = get_global_id(1);
    if (row >= n || first + 3 >= n)
        return;
    T s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (int k = 0; k < n; k++) {
        const T v = a[row * n + k];
        s0 += v * b[k * n + first];
        s1 += v * b[k * n + first + 1];
        s2 += v * b[k * n + first + 2];
        s3 += v * b[k * n + first + 3];
    }
    c[row * n + first] = s0;
    c[row * n + first + 1] = s1;
    c[row * n + first + 2] = s2;
    c[row * n + first + 3] = s3;
}

// name: matmul_transposed
// items: n, n
// sizes: product
// T: float
// a: n * n
// bt: n * n
// c: n * n
__kernel void matmul_transposed(__global const T *a, __global const T *bt, __global T *c, const int n)
{
    const int j = get_global_id(0);
    const int i = get_global_id(1);
    if (i < n && j < n) {
        T sum = 0;
        for (int k = 0; k < n; k++)
            sum += a[i * n + k] * bt[j * n + k];
        c[i * n + j] = sum;
    }
}

// name: matvec
// items: n
// cpu: 128, 512, 1536
// gpu: 512, 2048, 8192
// T: float | double
// a: n * n
__kernel void matvec(__global const T *a, __global const T *x, __global T *y, const int n)
{
    const int row = get_global_id(0);
    if (row < n) {
        T sum = 0;
        for (int j = 0; j < n; j++)
            sum += a[row * n + j] * x[j];
        y[row] = sum;
    }
}

// name: matvec_transposed
// items: n
// cpu: 128, 512, 1536
// gpu: 512, 2048, 8192
// T: float | double
// a: n * n
__kernel void matvec_transposed(__global const T *a, __global const T *x, __global T *y, const int n)
{
    const int column = get_global_id(0);
    if (column >= n)
        return;
    T sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i * n + column] * x[i];
    y[column] = sum;
}

// name: rank_one_update
// items: n, n
// sizes: plane
// T: float | double
// a: n * n
// b: n * n
__kernel void rank_one_update(__global const T *a, __global const T *u, __global const T *v, __global T *b, const int n)
{
    const int j = get_global_id(0);
    const int i = get_global_id(1);
    if (i < n && j < n)
        b[i * n + j] = a[i * n + j] + u[i] * v[j];
}

// name: lower_product
// items: n, n
// sizes: product
// T: float | double
// a: n * n
// c: n * n
__kernel void lower_product(__global const T *a, __global T *c, const int n)
{
    const int j = get_global_id(0);
    const int i = get_global_id(1);
    if (i >= n || j > i)
        return;
    T sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[i * n + k] * a[j * n + k];
    c[i * n + j] = sum;
}

// name: small_systems
// items: n
// cpu: 256, 2048, 16384
// gpu: 4096, 32768, 131072
// T: float | double
// lower: 64 * n: low=1 high=2
// right: 8 * n
// solution: 8 * n
__kernel void small_systems(__global const T *lower, __global const T *right, __global T *solution, const int n)
{
    const int s = get_global_id(0);
    if (s >= n)
        return;
    T x[8];
    for (int i = 0; i < 8; i++) {
        T sum = right[s * 8 + i];
        for (int j = 0; j < i; j++)
            sum -= (T)0.1 * lower[s * 64 + i * 8 + j] * x[j];
        x[i] = sum / lower[s * 64 + i * 8 + i];
    }
    for (int i = 0; i < 8; i++)
        solution[s * 8 + i] = x[i];
}

// name: many_small_products
// items: n
// cpu: 512, 4096, 32768
// gpu: 8192, 65536, 524288
// T: float | double
// a: 16 * n
// b: 16 * n
// c: 16 * n
__kernel void many_small_products(__global const T *a, __global const T *b, __global T *c, const int n)
{
    const int m = get_global_id(0);
    if (m >= n)
        return;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            T sum = 0;
            for (int k = 0; k < 4; k++)
                sum += a[m * 16 + i * 4 + k] * b[m * 16 + k * 4 + j];
            c[m * 16 + i * 4 + j] = sum;
        }
}

// name: distances
// items: n, n
// cpu: 64, 192, 512
// gpu: 256, 1024, 4096
// T: float
// D: 3 | 32
// points: D * n
// distance: n * n
__kernel void distances(__global const T *points, __global T *distance, const int n)
{
    const int j = get_global_id(0);
    const int i = get_global_id(1);
    if (i >= n || j >= n)
        return;
    T sum = 0;
    for (int d = 0; d < D; d++) {
        const T gap = points[i * D + d] - points[j * D + d];
        sum += gap * gap;
    }
    distance[i * n + j] = sqrt(sum);
}
