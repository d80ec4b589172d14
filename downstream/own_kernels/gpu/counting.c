// Histograms and deposits: several work-items add to one place.

// name: histogram
// items: n
// sizes: line
// T: uchar
// FILL: uniform high=256 | uniform high=16
// data: n: FILL
// bins: 256
__kernel void histogram(__global const T *data, __global uint *bins, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        atomic_add(&bins[data[i]], 1);
}

// name: histogram_in_local
// items: 16384
// sizes: line
// T: uchar
// BINS: 64 | 256
// data: n: high=256
// bins: BINS
// own: BINS
__kernel void histogram_in_local(__global const T *data, __global uint *bins, __local uint *own, const int n)
{
    const int l = get_local_id(0);
    for (int b = l; b < BINS; b += get_local_size(0))
        own[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_add(&own[data[i] % BINS], 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int b = l; b < BINS; b += get_local_size(0))
        atomic_add(&bins[b], own[b]);
}

// name: bucket_weights
// items: n
// sizes: line
// T: int
// FILL: power-law | indices
// key: n: FILL below=4096
// total: 4096
__kernel void bucket_weights(__global const T *key, __global const T *weight, __global T *total, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        atomic_add(&total[key[i]], weight[i]);
}

// name: bucket_largest
// items: n
// sizes: line
// T: int
// key: n: indices below=1024
// value: n: low=0 high=1000000
// largest: 1024
__kernel void bucket_largest(__global const T *key, __global const T *value, __global T *largest, const int n)
{
    const int i = get_global_id(0);
    if (i < n) {
        const int k = key[i];
        if (value[i] > largest[k])
            atomic_max(&largest[k], value[i]);
    }
}

// name: count_on_grid
// items: n
// sizes: line
// T: float | double
// x: n: low=0 high=64
// y: n: low=0 high=64
// count: 4096
__kernel void count_on_grid(__global const T *x, __global const T *y, __global int *count, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    const int cx = (int)x[i], cy = (int)y[i];
    atomic_add(&count[cy * 64 + cx], 1);
}
