// Steps of sorting networks, merges and dynamic programs.

// name: bitonic_step
// items: n
// sizes: line
// T: int | float
// FAR: 1 | 256
// run: 1024
__kernel void bitonic_step(__global const T *keys, __global T *result, const int n, const int run)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    const int other = i ^ FAR;
    const T own = keys[i];
    const T its = other < n ? keys[other] : own;
    const int rising = (i & run) == 0;
    const int lower = i < other;
    result[i] = (lower == rising) == (own < its) ? own : its;
}

// name: odd_even_step
// items: n // 2
// sizes: line
// T: int | double
// keys: n: uniform
// odd: 1
__kernel void odd_even_step(__global T *keys, const int n, const int odd)
{
    const int left = 2 * get_global_id(0) + odd;
    if (left + 1 < n && keys[left] > keys[left + 1]) {
        const T swap = keys[left];
        keys[left] = keys[left + 1];
        keys[left + 1] = swap;
    }
}

// name: sort_small_rows
// items: n
// cpu: 256, 2048, 16384
// gpu: 8192, 65536, 524288
// T: int | float
// rows: 16 * n
// sorted: 16 * n
__kernel void sort_small_rows(__global const T *rows, __global T *sorted, const int n)
{
    const int row = get_global_id(0);
    if (row >= n)
        return;
    T v[16];
    for (int k = 0; k < 16; k++)
        v[k] = rows[row * 16 + k];
    for (int i = 1; i < 16; i++) {
        const T key = v[i];
        int j = i;
        while (j > 0 && v[j - 1] > key) {
            v[j] = v[j - 1];
            j--;
        }
        v[j] = key;
    }
    for (int k = 0; k < 16; k++)
        sorted[row * 16 + k] = v[k];
}

// name: merge_by_search
// items: n
// sizes: line
// T: int
// left: n: ramp
// right: n: ramp
// merged: 2 * n
__kernel void merge_by_search(__global const T *left, __global const T *right, __global T *merged, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    int low = 0, high = n;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (right[middle] < left[i])
            low = middle + 1;
        else
            high = middle;
    }
    merged[i + low] = left[i];
    low = 0;
    high = n;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (left[middle] <= right[i])
            low = middle + 1;
        else
            high = middle;
    }
    merged[i + low] = right[i];
}

// name: edit_diagonal
// items: n
// sizes: line
// T: int
// before: n + 2: low=0 high=50
// last: n + 2: low=0 high=50
// a: n: low=0 high=4
// b: n: low=0 high=4
__kernel void edit_diagonal(
    __global const T *before,
    __global const T *last,
    __global const uchar *a,
    __global const uchar *b,
    __global T *next,
    const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    const int change = before[i + 1] + (a[i] != b[n - 1 - i]);
    const int remove = last[i] + 1;
    const int insert = last[i + 1] + 1;
    next[i] = min(change, min(remove, insert));
}

// name: common_subsequence
// items: n
// cpu: 64, 512, 4096
// gpu: 4096, 32768, 131072
// T: uchar
// a: 16 * n: low=0 high=4
// b: 16 * n: low=0 high=4
__kernel void common_subsequence(__global const T *a, __global const T *b, __global int *length, const int n)
{
    const int pair = get_global_id(0);
    if (pair >= n)
        return;
    int row[17];
    for (int j = 0; j <= 16; j++)
        row[j] = 0;
    for (int i = 0; i < 16; i++) {
        int corner = 0;
        for (int j = 1; j <= 16; j++) {
            const int above = row[j];
            if (a[pair * 16 + i] == b[pair * 16 + j - 1])
                row[j] = corner + 1;
            else
                row[j] = max(above, row[j - 1]);
            corner = above;
        }
    }
    length[pair] = row[16];
}

// name: knapsack_row
// items: n
// sizes: line
// T: int | float
// weight: 37
// gain: 11
__kernel void knapsack_row(__global const T *best, __global T *next, const int n, const int weight, const T gain)
{
    const int room = get_global_id(0);
    if (room < n) {
        T value = best[room];
        if (room >= weight && best[room - weight] + gain > value)
            value = best[room - weight] + gain;
        next[room] = value;
    }
}

// name: shortest_paths_step
// items: n, n
// sizes: plane
// T: int | float
// distance: n * n
// shorter: n * n
// via: n//2
__kernel void shortest_paths_step(__global const T *distance, __global T *shorter, const int n, const int via)
{
    const int to = get_global_id(0);
    const int from = get_global_id(1);
    if (to >= n || from >= n)
        return;
    const T direct = distance[from * n + to];
    const T over = distance[from * n + via] + distance[via * n + to];
    shorter[from * n + to] = over < direct ? over : direct;
}

// name: likeliest_state
// items: n
// cpu: 64, 192, 512
// gpu: 512, 2048, 4096
// T: float | double
// move: n * n
__kernel void likeliest_state(
    __global const T *score,
    __global const T *move,
    __global T *next,
    __global int *came_from,
    const int n)
{
    const int state = get_global_id(0);
    if (state >= n)
        return;
    T best = score[0] + move[state];
    int from = 0;
    for (int k = 1; k < n; k++) {
        const T s = score[k] + move[k * n + state];
        if (s > best) {
            best = s;
            from = k;
        }
    }
    next[state] = best;
    came_from[state] = from;
}
