// Running sums: a work-item a row, or a block a row.

// name: scan_row
// items: n
// cpu: 256, 2048, 16384
// gpu: 4096, 32768, 131072
// T: int | float
// WIDTH: 64
// x: WIDTH * n
// sums: WIDTH * n
__kernel void scan_row(__global const T *x, __global T *sums, const int n)
{
    const int row = get_global_id(0);
    if (row >= n)
        return;
    T sum = 0;
    for (int j = 0; j < WIDTH; j++) {
        sum += x[row * WIDTH + j];
        sums[row * WIDTH + j] = sum;
    }
}

// name: scan_column
// items: n
// cpu: 256, 2048, 16384
// gpu: 4096, 32768, 131072
// T: int | double
// x: 64 * n
// sums: 64 * n
__kernel void scan_column(__global const T *x, __global T *sums, const int n)
{
    const int column = get_global_id(0);
    if (column < n) {
        T sum = 0;
        for (int i = 0; i < 64; i++) {
            sum += x[i * n + column];
            sums[i * n + column] = sum;
        }
    }
}

// name: scan_row_block
// items: 64 * n
// cpu: 32, 256, 1024
// gpu: 512, 4096, 16384
// T: int | uint
// x: 512 * n
// sums: 512 * n
// part: bx
__kernel void scan_row_block(__global const T *x, __global T *sums, __local T *part, const int n)
{
    const int l = get_local_id(0);
    const int size = get_local_size(0);
    for (int row = get_group_id(0); row < n; row += get_num_groups(0)) {
        T carry = 0;
        for (int first = 0; first < 512; first += size) {
            const int j = first + l;
            part[l] = j < 512 ? x[row * 512 + j] : 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int far = 1; far < size; far *= 2) {
                const T other = l >= far ? part[l - far] : 0;
                barrier(CLK_LOCAL_MEM_FENCE);
                part[l] += other;
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            if (j < 512)
                sums[row * 512 + j] = carry + part[l];
            carry += part[size - 1];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
}

// name: running_largest
// items: n
// cpu: 256, 2048, 16384
// gpu: 4096, 32768, 131072
// T: float
// x: 64 * n
// top: 64 * n
__kernel void running_largest(__global const T *x, __global T *top, const int n)
{
    const int row = get_global_id(0);
    if (row >= n)
        return;
    T best = x[row * 64];
    for (int j = 0; j < 64; j++) {
        best = fmax(best, x[row * 64 + j]);
        top[row * 64 + j] = best;
    }
}
