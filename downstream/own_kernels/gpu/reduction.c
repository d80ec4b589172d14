// Many elements to few. Sums over blocks are of whole numbers, so that the order of the blocks changes nothing.

// name: sum_tree
// items: n
// sizes: line
// power_of_two: yes
// T: int | uint
// total: 1
// partial: bx
__kernel void sum_tree(__global const T *x, __global T *total, __local T *partial, const int n)
{
    const int i = get_global_id(0);
    const int l = get_local_id(0);
    partial[l] = i < n ? x[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s /= 2) {
        if (l < s)
            partial[l] += partial[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        atomic_add(total, partial[0]);
}

// name: max_tree
// items: n
// sizes: line
// power_of_two: yes
// T: int
// x: n: low=-1000000 high=1000000
// largest: 1
// best: bx
__kernel void max_tree(__global const T *x, __global T *largest, __local T *best, const int n)
{
    const int i = get_global_id(0);
    const int l = get_local_id(0);
    best[l] = i < n ? x[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) >> 1; s > 0; s >>= 1) {
        if (l < s && best[l + s] > best[l])
            best[l] = best[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        atomic_max(largest, best[0]);
}

// name: dot_grid_stride
// items: 8192
// sizes: line
// power_of_two: yes
// T: int | uint
// result: 1
// sums: bx
__kernel void dot_grid_stride(
    __global const T *a,
    __global const T *b,
    __global T *result,
    __local T *sums,
    const int n)
{
    const int l = get_local_id(0);
    T sum = 0;
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        sum += a[i] * b[i];
    sums[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s /= 2) {
        if (l < s)
            sums[l] += sums[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        atomic_add(result, sums[0]);
}

// name: sum_one_adder
// items: n
// sizes: line
// T: uint
// total: 1
// partial: bx
__kernel void sum_one_adder(__global const T *x, __global T *total, __local T *partial, const int n)
{
    const int i = get_global_id(0);
    const int l = get_local_id(0);
    const int size = get_local_size(0);
    partial[l] = i < n ? x[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        T sum = 0;
        for (int k = 0; k < size; k++)
            sum += partial[k];
        atomic_add(total, sum);
    }
}

// name: count_atomic
// items: n
// sizes: line
// T: float | int
// CUT: 0.02 | 0.5
// HIGH by T: 1 | 100
// SCALE by T: 1 | 100
// x: n: low=0 high=HIGH
// count: 1
__kernel void count_atomic(__global const T *x, __global int *count, const int n)
{
    const int i = get_global_id(0);
    if (i < n && x[i] < (T)(CUT * SCALE))
        atomic_add(count, 1);
}

// name: row_sum
// items: n
// cpu: 512, 4096, 32768
// gpu: 4096, 32768, 131072
// T: float | double
// WIDTH: 32 | 128
// matrix: WIDTH * n
__kernel void row_sum(__global const T *matrix, __global T *sums, const int n)
{
    const int row = get_global_id(0);
    if (row >= n)
        return;
    T sum = 0;
    for (int j = 0; j < WIDTH; j++)
        sum += matrix[row * WIDTH + j];
    sums[row] = sum;
}

// name: column_sum
// items: n
// cpu: 512, 4096, 32768
// gpu: 4096, 32768, 131072
// T: float | double
// HEIGHT: 64 | 256
// matrix: HEIGHT * n
__kernel void column_sum(__global const T *matrix, __global T *sums, const int n)
{
    const int column = get_global_id(0);
    if (column < n) {
        T sum = 0;
        for (int row = 0; row < HEIGHT; row++)
            sum += matrix[row * n + column];
        sums[column] = sum;
    }
}

// name: row_sum_block
// items: 64 * n
// cpu: 64, 512, 4096
// gpu: 512, 4096, 32768
// power_of_two: yes
// T: float | double
// matrix: 256 * n
// part: bx
__kernel void row_sum_block(__global const T *matrix, __global T *sums, __local T *part, const int n)
{
    const int l = get_local_id(0);
    const int size = get_local_size(0);
    for (int row = get_group_id(0); row < n; row += get_num_groups(0)) {
        T sum = 0;
        for (int j = l; j < 256; j += size)
            sum += matrix[row * 256 + j];
        part[l] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int s = size / 2; s > 0; s >>= 1) {
            if (l < s)
                part[l] += part[l + s];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (l == 0)
            sums[row] = part[0];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// name: softmax_rows
// items: 64 * n
// cpu: 32, 256, 1024
// gpu: 512, 4096, 16384
// power_of_two: yes
// T: float
// WIDTH: 128 | 512
// scores: WIDTH * n
// weights: WIDTH * n
// shared: bx
__kernel void softmax_rows(__global const T *scores, __global T *weights, __local T *shared, const int n)
{
    const int l = get_local_id(0);
    const int size = get_local_size(0);
    for (int row = get_group_id(0); row < n; row += get_num_groups(0)) {
        T top = -1e30f;
        for (int j = l; j < WIDTH; j += size)
            top = fmax(top, scores[row * WIDTH + j]);
        shared[l] = top;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int s = size / 2; s > 0; s /= 2) {
            if (l < s)
                shared[l] = fmax(shared[l], shared[l + s]);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        top = shared[0];
        barrier(CLK_LOCAL_MEM_FENCE);
        T sum = 0;
        for (int j = l; j < WIDTH; j += size) {
            const T e = exp(scores[row * WIDTH + j] - top);
            weights[row * WIDTH + j] = e;
            sum += e;
        }
        shared[l] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int s = size / 2; s > 0; s /= 2) {
            if (l < s)
                shared[l] += shared[l + s];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        const T scale = 1 / shared[0];
        for (int j = l; j < WIDTH; j += size)
            weights[row * WIDTH + j] *= scale;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// name: normalise_rows
// items: n
// cpu: 64, 512, 4096
// gpu: 4096, 32768, 131072
// T: float | double
// x: 96 * n
// y: 96 * n
__kernel void normalise_rows(__global const T *x, __global T *y, const int n)
{
    const int row = get_global_id(0);
    if (row >= n)
        return;
    T mean = 0, square = 0;
    for (int j = 0; j < 96; j++) {
        const T v = x[row * 96 + j];
        mean += v;
        square += v * v;
    }
    mean /= 96;
    const T scale = 1 / sqrt(square / 96 - mean * mean + (T)0.001);
    for (int j = 0; j < 96; j++)
        y[row * 96 + j] = (x[row * 96 + j] - mean) * scale;
}

// name: arg_min
// items: n
// cpu: 512, 4096, 32768
// gpu: 4096, 32768, 131072
// T: float | int
// table: 64 * n
__kernel void arg_min(__global const T *table, __global int *place, const int n)
{
    const int row = get_global_id(0);
    if (row < n) {
        int best = 0;
        for (int j = 1; j < 64; j++)
            if (table[row * 64 + j] < table[row * 64 + best])
                best = j;
        place[row] = best;
    }
}
