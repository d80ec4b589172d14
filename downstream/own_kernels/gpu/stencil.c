// Each element from its neighbours, with and without a tile in local memory.

// name: stencil_line
// items: n
// sizes: line
// T: float | double
// R: 1 | 4 | 12
__kernel void stencil_line(__global const T *x, __global T *y, const int n)
{
    const int i = get_global_id(0);
    if (i < R || i >= n - R)
        return;
    T sum = 0;
    for (int k = -R; k <= R; k++)
        sum += x[i + k];
    y[i] = sum / (2 * R + 1);
}

// name: stencil_line_tiled
// items: n
// sizes: line
// T: float | double
// R: 2 | 12
// tile: bx + 2 * R
__kernel void stencil_line_tiled(__global const T *x, __global T *y, __local T *tile, const int n)
{
    const int i = get_global_id(0);
    const int l = get_local_id(0);
    const int size = get_local_size(0);
    const int first = get_group_id(0) * size - R;
    for (int k = l; k < size + 2 * R; k += size) {
        const int from = first + k;
        tile[k] = from >= 0 && from < n ? x[from] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n) {
        T sum = 0;
        for (int k = 0; k <= 2 * R; k++)
            sum += tile[l + k];
        y[i] = sum;
    }
}

// name: five_point
// items: n, n
// sizes: plane
// T: float | double
// old: n * n
// fresh: n * n
__kernel void five_point(__global const T *old, __global T *fresh, const int n)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        fresh[y * n + x] = (T)0.25 * (old[y * n + x - 1] + old[y * n + x + 1]
                                       + old[(y - 1) * n + x] + old[(y + 1) * n + x]);
}

// name: five_point_tiled
// items: n, n
// sizes: plane
// T: float | double
// old: n * n
// fresh: n * n
// tile: (bx + 2) * (by + 2)
__kernel void five_point_tiled(__global const T *old, __global T *fresh, __local T *tile, const int n)
{
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int bx = get_local_size(0), by = get_local_size(1);
    const int x0 = get_group_id(0) * bx - 1, y0 = get_group_id(1) * by - 1;
    const int width = bx + 2;
    for (int ty = ly; ty < by + 2; ty += by)
        for (int tx = lx; tx < width; tx += bx) {
            const int gx = x0 + tx, gy = y0 + ty;
            tile[ty * width + tx] = gx >= 0 && gy >= 0 && gx < n && gy < n ? old[gy * n + gx] : 0;
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int x = x0 + lx + 1, y = y0 + ly + 1;
    if (x < n && y < n) {
        const int t = (ly + 1) * width + lx + 1;
        fresh[y * n + x] = (T)0.25 * (tile[t - 1] + tile[t + 1] + tile[t - width] + tile[t + width]);
    }
}

// name: box
// items: n, n
// sizes: plane
// T: float | int
// R: 1 | 3
// image: n * n
// blurred: n * n
__kernel void box(__global const T *image, __global T *blurred, const int n)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    if (x < R || y < R || x >= n - R || y >= n - R)
        return;
    T sum = 0;
    for (int dy = -R; dy <= R; dy++)
        for (int dx = -R; dx <= R; dx++)
            sum += image[(y + dy) * n + x + dx];
    blurred[y * n + x] = sum / ((2 * R + 1) * (2 * R + 1));
}

// name: seven_point_columns
// items: n, n
// sizes: cube
// T: float | double
// u: n * n * n
// v: n * n * n
__kernel void seven_point_columns(__global const T *u, __global T *v, const int n)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    const int plane = n * n;
    int at = plane + y * n + x;
    T below = u[at - plane], here = u[at];
    for (int z = 1; z < n - 1; z++) {
        const T above = u[at + plane];
        v[at] = (T)0.4 * here + (T)0.1 * (below + above + u[at - 1] + u[at + 1] + u[at - n] + u[at + n]);
        below = here;
        here = above;
        at += plane;
    }
}

// name: seven_point_flat
// items: n * n * n
// sizes: cube
// T: float | double
// u: n * n * n
// v: n * n * n
__kernel void seven_point_flat(__global const T *u, __global T *v, const int n)
{
    const int i = get_global_id(0);
    const int x = i % n, y = i / n % n, z = i / (n * n);
    if (x == 0 || y == 0 || z == 0 || x >= n - 1 || y >= n - 1 || z >= n - 1)
        return;
    v[i] = u[i] + (T)0.1 * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + u[i - n * n] + u[i + n * n] - 6 * u[i]);
}

// name: diffusion_varying
// items: n, n
// sizes: plane
// T: float | double
// heat: n * n
// conductivity: n * n
// next: n * n
__kernel void diffusion_varying(__global const T *heat, __global const T *conductivity, __global T *next, const int n)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    if (x < 1 || y < 1 || x > n - 2 || y > n - 2)
        return;
    const int c = y * n + x;
    const T k = conductivity[c];
    T flow = (k + conductivity[c - 1]) * (heat[c - 1] - heat[c]);
    flow += (k + conductivity[c + 1]) * (heat[c + 1] - heat[c]);
    flow += (k + conductivity[c - n]) * (heat[c - n] - heat[c]);
    flow += (k + conductivity[c + n]) * (heat[c + n] - heat[c]);
    next[c] = heat[c] + (T)0.05 * flow;
}

// name: wave_step
// items: n, n
// sizes: plane
// T: float
// now: n * n
// before: n * n
// after: n * n
// c2: 0.2
__kernel void wave_step(__global const T *now, __global const T *before, __global T *after, const int n, const T c2)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n)
        return;
    const int left = x > 0 ? x - 1 : n - 1, right = x < n - 1 ? x + 1 : 0;
    const int up = y > 0 ? y - 1 : n - 1, down = y < n - 1 ? y + 1 : 0;
    const T here = now[y * n + x];
    const T curve = now[y * n + left] + now[y * n + right] + now[up * n + x] + now[down * n + x] - 4 * here;
    after[y * n + x] = 2 * here - before[y * n + x] + c2 * curve;
}

// name: game_of_life
// items: n, n
// sizes: plane
// T: uchar | int
// alive: n * n: low=0 high=2
// next: n * n
__kernel void game_of_life(__global const T *alive, __global T *next, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    int count = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            count += alive[(y + dy) * n + x + dx];
    const int self = alive[y * n + x];
    count -= self;
    next[y * n + x] = count == 3 || (count == 2 && self);
}
