// Everything with everything, or with its neighbours.

// name: gravity
// items: n
// sizes: pairs
// T: float | double
__kernel void gravity(
    __global const T *x,
    __global const T *y,
    __global const T *z,
    __global const T *mass,
    __global T *ax,
    __global T *ay,
    __global T *az,
    const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    const T px = x[i], py = y[i], pz = z[i];
    T fx = 0, fy = 0, fz = 0;
    for (int j = 0; j < n; j++) {
        const T dx = x[j] - px, dy = y[j] - py, dz = z[j] - pz;
        const T r2 = dx * dx + dy * dy + dz * dz + (T)0.01;
        const T f = mass[j] / (r2 * sqrt(r2));
        fx += f * dx;
        fy += f * dy;
        fz += f * dz;
    }
    ax[i] = fx;
    ay[i] = fy;
    az[i] = fz;
}

// name: gravity_tiled
// items: n
// sizes: pairs
// T: float | double
// body: 4 * n
// push: 3 * n
// tile: 4 * bx
__kernel void gravity_tiled(__global const T *body, __global T *push, __local T *tile, const int n)
{
    const int i = get_global_id(0);
    const int l = get_local_id(0);
    const int size = get_local_size(0);
    const int own = i < n ? i : 0;
    const T px = body[4 * own], py = body[4 * own + 1], pz = body[4 * own + 2];
    T fx = 0, fy = 0, fz = 0;
    for (int first = 0; first < n; first += size) {
        for (int k = 0; k < 4; k++)
            tile[4 * l + k] = first + l < n ? body[4 * (first + l) + k] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < size; j++) {
            const T dx = tile[4 * j] - px, dy = tile[4 * j + 1] - py, dz = tile[4 * j + 2] - pz;
            const T r2 = dx * dx + dy * dy + dz * dz + (T)0.01;
            const T f = tile[4 * j + 3] / (r2 * sqrt(r2));
            fx += f * dx;
            fy += f * dy;
            fz += f * dz;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n) {
        push[3 * i] = fx;
        push[3 * i + 1] = fy;
        push[3 * i + 2] = fz;
    }
}

// name: neighbour_forces
// items: n
// cpu: 512, 4096, 32768
// gpu: 8192, 65536, 524288
// T: float | double
// neighbours: 24 * n: indices below=n
__kernel void neighbour_forces(
    __global const T *x,
    __global const T *y,
    __global const int *neighbours,
    __global T *force,
    const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    T sum = 0;
    for (int k = 0; k < 24; k++) {
        const int j = neighbours[i * 24 + k];
        const T dx = x[j] - x[i], dy = y[j] - y[i];
        const T r2 = dx * dx + dy * dy + (T)0.1;
        if (r2 < (T)0.6) {
            const T inverse = 1 / (r2 * r2 * r2);
            sum += inverse * (inverse - (T)0.5);
        }
    }
    force[i] = sum;
}

// name: nearest_centre
// items: n
// cpu: 1024, 8192, 65536
// gpu: 16384, 131072, 1048576
// T: float
// D: 2 | 16
// points: D * n
// centres: D * 16
__kernel void nearest_centre(__global const T *points, __global const T *centres, __global int *nearest, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    int best = 0;
    T least = 1e30f;
    for (int c = 0; c < 16; c++) {
        T sum = 0;
        for (int d = 0; d < D; d++) {
            const T gap = points[i * D + d] - centres[c * D + d];
            sum += gap * gap;
        }
        if (sum < least) {
            least = sum;
            best = c;
        }
    }
    nearest[i] = best;
}

// name: nearest_centre_in_local
// items: n
// cpu: 1024, 8192, 65536
// gpu: 16384, 131072, 1048576
// T: float | double
// points: 2 * n
// centres: 128
// own: 128
__kernel void nearest_centre_in_local(
    __global const T *points,
    __global const T *centres,
    __global int *nearest,
    __local T *own,
    const int n)
{
    for (int k = get_local_id(0); k < 128; k += get_local_size(0))
        own[k] = centres[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    const int i = get_global_id(0);
    if (i >= n)
        return;
    const T x = points[2 * i], y = points[2 * i + 1];
    int best = 0;
    T least = 1000000;
    for (int c = 0; c < 64; c++) {
        const T dx = own[2 * c] - x, dy = own[2 * c + 1] - y;
        const T far = dx * dx + dy * dy;
        best = far < least ? c : best;
        least = far < least ? far : least;
    }
    nearest[i] = best;
}

// name: rank_by_counting
// items: n
// sizes: pairs
// T: float | int
__kernel void rank_by_counting(__global const T *key, __global int *rank, const int n)
{
    const int i = get_global_id(0);
    if (i < n) {
        const T own = key[i];
        int before = 0;
        for (int j = 0; j < n; j++)
            before += key[j] < own || (key[j] == own && j < i);
        rank[i] = before;
    }
}

// name: potential_on_grid
// items: n, n
// cpu: 24, 64, 160
// gpu: 128, 512, 1536
// T: float
// ATOMS: 64 | 256
// atom: 4 * ATOMS
// potential: n * n
// spacing: 0.01
__kernel void potential_on_grid(__global const T *atom, __global T *potential, const int n, const T spacing)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n)
        return;
    const T px = x * spacing, py = y * spacing;
    T sum = 0;
    for (int k = 0; k < ATOMS; k++) {
        const T dx = px - atom[4 * k], dy = py - atom[4 * k + 1], dz = atom[4 * k + 2];
        sum += atom[4 * k + 3] * rsqrt(dx * dx + dy * dy + dz * dz + 0.001f);
    }
    potential[y * n + x] = sum;
}
