// Each work-item reads and writes a few elements; no work-item needs another.

// name: saxpy
// items: n
// sizes: line
// T: float | double | int
// a: 3
__kernel void saxpy(__global const T *x, __global const T *y, __global T *z, const T a, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        z[i] = a * x[i] + y[i];
}

// name: copy_chunks
// items: n // K
// sizes: line
// T: float | uchar
// K: 4 | 16
__kernel void copy_chunks(__global const T *src, __global T *dst, const int n)
{
    const int first = get_global_id(0) * K;
    for (int k = 0; k < K; k++)
        if (first + k < n)
            dst[first + k] = src[first + k];
}

// name: triad_grid_stride
// items: 16384
// sizes: line
// T: float | double
// scalar: 2
__kernel void triad_grid_stride(__global const T *b, __global const T *c, __global T *a, const T scalar, const int n)
{
    const int step = get_global_size(0);
    for (int i = get_global_id(0); i < n; i += step)
        a[i] = b[i] + scalar * c[i];
}

// name: polynomial
// items: n
// sizes: line
// T: float | double
// DEGREE: 8 | 64
// coefficients: DEGREE
__kernel void polynomial(__global const T *x, __global const T *coefficients, __global T *y, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    const T value = x[i];
    T sum = 0;
    for (int k = DEGREE - 1; k >= 0; k--)
        sum = sum * value + coefficients[k];
    y[i] = sum;
}

// name: strided_read
// items: n
// cpu: 4096, 65536, 524288
// gpu: 65536, 524288, 4194304
// T: float
// STRIDE: 2 | 7 | 32
// x: n * STRIDE
__kernel void strided_read(__global const T *x, __global T *y, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        y[i] = x[i * STRIDE] * 0.5f;
}

// name: sum_of_five
// items: n
// sizes: line
// T: float | int
__kernel void sum_of_five(
    __global const T *a,
    __global const T *b,
    __global const T *c,
    __global const T *d,
    __global const T *e,
    __global T *total,
    const int n)
{
    int i = get_global_id(0);
    if (i < n) {
        total[i] = a[i] + b[i] + c[i] + d[i] + e[i];
    }
}

// name: threshold
// items: n
// sizes: line
// T: float | uchar | int
// LOW by T: 0.5 | 60 | 50
// low: LOW
__kernel void threshold(__global const T *values, __global T *kept, const T low, const int n)
{
    const int i = get_global_id(0);
    if (i < n) {
        const T v = values[i];
        kept[i] = v > low ? v : 0;
    }
}

// name: structs_to_arrays
// items: n
// sizes: line
// T: float | double
// points: 3 * n
__kernel void structs_to_arrays(__global const T *points, __global T *x, __global T *y, __global T *z, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    x[i] = points[3 * i];
    y[i] = points[3 * i + 1];
    z[i] = points[3 * i + 2];
}

// name: complex_multiply
// items: n
// sizes: line
// T: float | double
// a: 2 * n
// b: 2 * n
// c: 2 * n
__kernel void complex_multiply(__global const T *a, __global const T *b, __global T *c, const int n)
{
    const int i = get_global_id(0);
    if (i < n) {
        const T ar = a[2 * i], ai = a[2 * i + 1];
        const T br = b[2 * i], bi = b[2 * i + 1];
        c[2 * i] = ar * br - ai * bi;
        c[2 * i + 1] = ar * bi + ai * br;
    }
}
