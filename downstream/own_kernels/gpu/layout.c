// Elements change places.

// name: transpose
// items: n, n
// sizes: plane
// T: float | double | uchar
// a: n * n
// b: n * n
__kernel void transpose(__global const T *a, __global T *b, const int n)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    if (x < n && y < n)
        b[x * n + y] = a[y * n + x];
}

// name: transpose_tiled
// items: n, n
// sizes: plane
// T: float | double
// a: n * n
// b: n * n
// tile: (bx + 1) * by
__kernel void transpose_tiled(__global const T *a, __global T *b, __local T *tile, const int n)
{
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int bx = get_local_size(0), by = get_local_size(1);
    const int x0 = get_group_id(0) * bx, y0 = get_group_id(1) * by;
    if (x0 + lx < n && y0 + ly < n)
        tile[ly * (bx + 1) + lx] = a[(y0 + ly) * n + x0 + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    const int t = ly * bx + lx;
    const int column = t % by, row = t / by;
    if (x0 + row < n && y0 + column < n)
        b[(x0 + row) * n + y0 + column] = tile[column * (bx + 1) + row];
}

// name: turn_image
// items: n, n
// sizes: plane
// T: uchar | float
// image: n * n
// turned: n * n
__kernel void turn_image(__global const T *image, __global T *turned, const int n)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    if (x < n && y < n)
        turned[(n - 1 - x) * n + y] = image[y * n + x];
}

// name: mirror
// items: n
// sizes: line
// T: float | uchar
__kernel void mirror(__global const T *a, __global T *b, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        b[n - 1 - i] = a[i];
}

// name: gather
// items: n
// sizes: line
// T: float | double
// index: n: indices below=n
__kernel void gather(__global const T *x, __global const int *index, __global T *y, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        y[i] = x[index[i]];
}

// name: scatter
// items: n
// sizes: line
// T: float | int
// place: n: permutation
__kernel void scatter(__global const T *x, __global const int *place, __global T *y, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        y[place[i]] = x[i];
}

// name: two_hops
// items: n
// sizes: line
// T: float
// first: n: indices below=n
// second: n: indices below=n
__kernel void two_hops(
    __global const T *x,
    __global const int *first,
    __global const int *second,
    __global T *y,
    const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        y[i] = x[second[first[i]]] + x[first[i]];
}

// name: pointer_chase
// items: n
// cpu: 1024, 8192, 65536
// gpu: 16384, 131072, 1048576
// T: int
// STEPS: 8 | 32
// next: n: permutation
__kernel void pointer_chase(__global const T *next, __global T *last, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    T at = i;
    for (int step = 0; step < STEPS; step++)
        at = next[at];
    last[i] = at;
}

// name: table_in_local
// items: n
// sizes: line
// T: float
// bytes: n: high=256
// table: 256
// copy: 256
__kernel void table_in_local(
    __global const uchar *bytes,
    __global const T *table,
    __global T *y,
    __local T *copy,
    const int n)
{
    for (int k = get_local_id(0); k < 256; k += get_local_size(0))
        copy[k] = table[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    const int i = get_global_id(0);
    if (i < n)
        y[i] = copy[bytes[i]];
}

// name: compact_even
// items: n
// sizes: line
// T: float | int
// y: n // 2
__kernel void compact_even(__global const T *x, __global T *y, const int n)
{
    const int i = get_global_id(0);
    if (i < n && i % 2 == 0 && i / 2 < n / 2)
        y[i / 2] = x[i];
}
