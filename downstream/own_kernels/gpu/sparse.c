// Sparse matrices and graphs: a row's length and its columns are data.

// name: csr_row
// items: n
// sizes: rows
// T: float | double
// MEAN: 8 | 32
// start: n + 1: row-starts below=MEAN*n
// column: MEAN * n: indices below=n
// value: MEAN * n
__kernel void csr_row(
    __global const int *start,
    __global const int *column,
    __global const T *value,
    __global const T *x,
    __global T *y,
    const int n)
{
    const int row = get_global_id(0);
    if (row >= n)
        return;
    T sum = 0;
    for (int k = start[row]; k < start[row + 1]; k++)
        sum += value[k] * x[column[k]];
    y[row] = sum;
}

// name: csr_block
// items: 32 * n
// cpu: 128, 1024, 8192
// gpu: 2048, 16384, 131072
// power_of_two: yes
// T: float | double
// start: n + 1: row-starts below=64*n
// column: 64 * n: indices below=n
// value: 64 * n
// part: bx
__kernel void csr_block(
    __global const int *start,
    __global const int *column,
    __global const T *value,
    __global const T *x,
    __global T *y,
    __local T *part,
    const int n)
{
    const int l = get_local_id(0);
    const int size = get_local_size(0);
    for (int row = get_group_id(0); row < n; row += get_num_groups(0)) {
        T sum = 0;
        for (int k = start[row] + l; k < start[row + 1]; k += size)
            sum += value[k] * x[column[k]];
        part[l] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int s = size / 2; s > 0; s /= 2) {
            if (l < s)
                part[l] += part[l + s];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (l == 0)
            y[row] = part[0];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// name: ell_row
// items: n
// sizes: rows
// T: float | double
// column: 16 * n: indices below=n
// value: 16 * n
__kernel void ell_row(
    __global const int *column,
    __global const T *value,
    __global const T *x,
    __global T *y,
    const int n)
{
    const int row = get_global_id(0);
    if (row < n) {
        T sum = 0;
        for (int k = 0; k < 16; k++)
            sum += value[k * n + row] * x[column[k * n + row]];
        y[row] = sum;
    }
}

// name: coo_add
// items: 8 * n
// sizes: rows
// T: int
// row: 8 * n: indices below=n
// column: 8 * n: indices below=n
// value: 8 * n
// entries: 8*n
__kernel void coo_add(
    __global const int *row,
    __global const int *column,
    __global const T *value,
    __global const T *x,
    __global T *y,
    const int entries)
{
    const int e = get_global_id(0);
    if (e < entries)
        atomic_add(&y[row[e]], value[e] * x[column[e]]);
}

// name: breadth_first_step
// items: n
// sizes: rows
// T: int
// start: n + 1: row-starts below=8*n
// target: 8 * n: indices below=n
// frontier: n: low=0 high=2
__kernel void breadth_first_step(
    __global const int *start,
    __global const int *target,
    __global const uchar *frontier,
    __global uchar *reached,
    const int n)
{
    const int node = get_global_id(0);
    if (node >= n || !frontier[node])
        return;
    for (int e = start[node]; e < start[node + 1]; e++)
        reached[target[e]] = 1;
}

// name: rank_pull
// items: n
// sizes: rows
// T: float | double
// start: n + 1: row-starts below=8*n
// source: 8 * n: power-law below=n
__kernel void rank_pull(
    __global const int *start,
    __global const int *source,
    __global const T *share,
    __global T *rank,
    const int n)
{
    const int node = get_global_id(0);
    if (node < n) {
        T sum = 0;
        for (int e = start[node]; e < start[node + 1]; e++)
            sum += share[source[e]];
        rank[node] = (T)0.15 + (T)0.85 * sum;
    }
}

// name: relax_edges
// items: 8 * n
// sizes: rows
// T: int
// from: 8 * n: indices below=n
// to: 8 * n: indices below=n
// length: 8 * n: low=1 high=100
// distance: n: low=0 high=1000
// best: n: uniform low=900 high=1000
// edges: 8*n
__kernel void relax_edges(
    __global const int *from,
    __global const int *to,
    __global const int *length,
    __global const int *distance,
    __global int *best,
    const int edges)
{
    const int e = get_global_id(0);
    if (e < edges)
        atomic_min(&best[to[e]], distance[from[e]] + length[e]);
}

// name: smallest_label
// items: n
// sizes: rows
// T: int
// start: n + 1: row-starts below=12*n
// target: 12 * n: indices below=n
// label: n: permutation
__kernel void smallest_label(
    __global const int *start,
    __global const int *target,
    __global const T *label,
    __global T *next,
    const int n)
{
    const int node = get_global_id(0);
    if (node >= n)
        return;
    T least = label[node];
    for (int e = start[node]; e < start[node + 1]; e++) {
        const T other = label[target[e]];
        if (other < least)
            least = other;
    }
    next[node] = least;
}

// name: count_heavy_edges
// items: n
// sizes: rows
// T: float | int
// CUT by T: 0.9 | 90
// start: n + 1: row-starts below=16*n
// weight: 16 * n
// cut: CUT
__kernel void count_heavy_edges(
    __global const int *start,
    __global const T *weight,
    __global int *heavy,
    const int n,
    const T cut)
{
    const int node = get_global_id(0);
    if (node < n) {
        int count = 0;
        for (int e = start[node]; e < start[node + 1]; e++)
            if (weight[e] > cut)
                count++;
        heavy[node] = count;
    }
}
