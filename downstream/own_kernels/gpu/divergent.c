// Work-items that do unequal work, or go different ways.

// name: mandelbrot
// items: n, n
// cpu: 32, 96, 256
// gpu: 256, 1024, 4096
// T: float | double
// LIMIT: 64 | 256
// steps: n * n
__kernel void mandelbrot(__global int *steps, const int n)
{
    const int px = get_global_id(0);
    const int py = get_global_id(1);
    if (px >= n || py >= n)
        return;
    const T cx = (T)3 * px / n - 2, cy = (T)2 * py / n - 1;
    T x = 0, y = 0;
    int step = 0;
    while (step < LIMIT && x * x + y * y < 4) {
        const T next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        step++;
    }
    steps[py * n + px] = step;
}

// name: mandelbrot_line
// items: n * n
// cpu: 32, 96, 256
// gpu: 256, 1024, 4096
// T: float
// steps: n * n
__kernel void mandelbrot_line(__global int *steps, const int n)
{
    const int i = get_global_id(0);
    if (i >= n * n)
        return;
    const T cx = (T)3 * (i % n) / n - 2, cy = (T)2 * (i / n) / n - 1;
    T x = 0, y = 0;
    int step = 0;
    for (; step < 128; step++) {
        const T xx = x * x, yy = y * y;
        if (xx + yy > 4)
            break;
        y = 2 * x * y + cy;
        x = xx - yy + cx;
    }
    steps[i] = step;
}

// name: collatz
// items: n
// cpu: 512, 4096, 32768
// gpu: 16384, 131072, 1048576
// T: uint | ulong
__kernel void collatz(__global int *length, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    T v = i + 1;
    int steps = 0;
    while (v != 1 && steps < 200) {
        v = v % 2 == 0 ? v / 2 : 3 * v + 1;
        steps++;
    }
    length[i] = steps;
}

// name: newton_root
// items: n
// cpu: 1024, 16384, 131072
// gpu: 65536, 524288, 4194304
// T: float | double
// value: n: low=1 high=1000
__kernel void newton_root(__global const T *value, __global T *root, const int n)
{
    const int i = get_global_id(0);
    if (i < n) {
        const T v = value[i];
        T r = v;
        for (int step = 0; step < 40; step++) {
            const T next = (T)0.5 * (r + v / r);
            if (r - next < (T)0.00001 * r)
                break;
            r = next;
        }
        root[i] = r;
    }
}

// name: binary_search
// items: n
// sizes: line
// T: int
// sorted: n: ramp
// wanted: n: indices below=n
__kernel void binary_search(__global const T *sorted, __global const T *wanted, __global int *place, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    int low = 0, high = n;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (sorted[middle] < wanted[i])
            low = middle + 1;
        else
            high = middle;
    }
    place[i] = low;
}

// name: four_ways
// items: n
// sizes: line
// T: float | double
// kind: n: low=0 high=4
// x: n: low=0.1 high=1
__kernel void four_ways(__global const uchar *kind, __global const T *x, __global T *y, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    const T v = x[i];
    switch (kind[i]) {
    case 0:
        y[i] = exp(v);
        break;
    case 1:
        y[i] = log(v);
        break;
    case 2:
        y[i] = sqrt(v) + v;
        break;
    default:
        y[i] = 1 / v;
    }
}

// name: power_law_work
// items: n
// cpu: 1024, 8192, 65536
// gpu: 16384, 131072, 1048576
// T: float | int
// work: n: power-law below=400
__kernel void power_law_work(__global const int *work, __global const T *x, __global T *y, const int n)
{
    const int i = get_global_id(0);
    if (i < n) {
        T v = x[i];
        for (int k = 0; k < work[i]; k++)
            v = v / 2 + x[i];
        y[i] = v;
    }
}

// name: find_in_text
// items: n
// sizes: line
// T: uchar
// LENGTH: 4 | 12
// LETTERS: 2 | 8
// text: n + LENGTH: low=0 high=LETTERS
// pattern: LENGTH: low=0 high=LETTERS
__kernel void find_in_text(__global const T *text, __global const T *pattern, __global uchar *found, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    int k = 0;
    while (k < LENGTH && text[i + k] == pattern[k])
        k++;
    found[i] = k == LENGTH;
}

// name: escape_walk
// items: n
// cpu: 512, 4096, 32768
// gpu: 16384, 131072, 1048576
// T: uint
// seed: 12345
__kernel void escape_walk(__global int *steps, const int n, const uint seed)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    T state = seed + i * 747796405u;
    int x = 0, y = 0, step = 0;
    while (x * x + y * y < 200 && step < 300) {
        state = state * 1664525u + 1013904223u;
        const int way = state >> 30;
        x += way == 0 ? 1 : way == 1 ? -1 : 0;
        y += way == 2 ? 1 : way == 3 ? -1 : 0;
        step++;
    }
    steps[i] = step;
}
