// Images and filters.

// name: convolve
// items: n, n
// sizes: image
// T: float
// R: 2 | 5
// image: n * n
// weight: (2 * R + 1) * (2 * R + 1)
// result: n * n
__kernel void convolve(__global const T *image, __global const T *weight, __global T *result, const int n)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    if (x >= n || y >= n)
        return;
    T sum = 0;
    for (int dy = -R; dy <= R; dy++) {
        const int sy = min(max(y + dy, 0), n - 1);
        for (int dx = -R; dx <= R; dx++) {
            const int sx = min(max(x + dx, 0), n - 1);
            sum += image[sy * n + sx] * weight[(dy + R) * (2 * R + 1) + dx + R];
        }
    }
    result[y * n + x] = sum;
}

// name: convolve_tiled
// items: n, n
// sizes: image
// T: float
// R: 2 | 5
// image: n * n
// weight: (2 * R + 1) * (2 * R + 1)
// result: n * n
// tile: (bx + 2 * R) * (by + 2 * R)
__kernel void convolve_tiled(
    __global const T *image,
    __global const T *weight,
    __global T *result,
    __local T *tile,
    const int n)
{
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int bx = get_local_size(0), by = get_local_size(1);
    const int x0 = get_group_id(0) * bx, y0 = get_group_id(1) * by;
    const int width = bx + 2 * R;
    for (int ty = ly; ty < by + 2 * R; ty += by) {
        const int sy = min(max(y0 + ty - R, 0), n - 1);
        for (int tx = lx; tx < width; tx += bx) {
            const int sx = min(max(x0 + tx - R, 0), n - 1);
            tile[ty * width + tx] = image[sy * n + sx];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x0 + lx >= n || y0 + ly >= n)
        return;
    T sum = 0;
    for (int dy = 0; dy <= 2 * R; dy++)
        for (int dx = 0; dx <= 2 * R; dx++)
            sum += tile[(ly + dy) * width + lx + dx] * weight[dy * (2 * R + 1) + dx];
    result[(y0 + ly) * n + x0 + lx] = sum;
}

// name: blur_along_rows
// items: n, n
// sizes: image
// T: float | uchar
// R: 8
// image: n * n
// blurred: n * n
__kernel void blur_along_rows(__global const T *image, __global T *blurred, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n)
        return;
    float sum = 0;
    for (int d = -R; d <= R; d++)
        sum += image[y * n + min(max(x + d, 0), n - 1)];
    blurred[y * n + x] = (T)(sum / (2 * R + 1));
}

// name: blur_along_columns
// items: n, n
// sizes: image
// T: float
// R: 4 | 12
// image: n * n
// blurred: n * n
__kernel void blur_along_columns(__global const T *image, __global T *blurred, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n)
        return;
    T sum = 0;
    for (int d = -R; d <= R; d++)
        sum += image[min(max(y + d, 0), n - 1) * n + x];
    blurred[y * n + x] = sum / (2 * R + 1);
}

// name: edges
// items: n, n
// sizes: plane
// T: float | uchar
// image: n * n
// strength: n * n
__kernel void edges(__global const T *image, __global float *strength, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    const int c = y * n + x;
    const float across = image[c - n + 1] + 2 * image[c + 1] + image[c + n + 1]
                         - image[c - n - 1] - 2 * image[c - 1] - image[c + n - 1];
    const float along = image[c + n - 1] + 2 * image[c + n] + image[c + n + 1]
                        - image[c - n - 1] - 2 * image[c - n] - image[c - n + 1];
    strength[c] = sqrt(across * across + along * along);
}

// name: bilateral
// items: n, n
// cpu: 32, 96, 256
// gpu: 256, 1024, 2048
// T: float
// image: n * n
// smooth: n * n
// width: 8
__kernel void bilateral(__global const T *image, __global T *smooth, const int n, const T width)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < 3 || y < 3 || x >= n - 3 || y >= n - 3)
        return;
    const T centre = image[y * n + x];
    T sum = 0, weights = 0;
    for (int dy = -3; dy <= 3; dy++)
        for (int dx = -3; dx <= 3; dx++) {
            const T v = image[(y + dy) * n + x + dx];
            const T gap = v - centre;
            const T w = exp(-(dx * dx + dy * dy) / 18.0f - width * gap * gap);
            sum += w * v;
            weights += w;
        }
    smooth[y * n + x] = sum / weights;
}

// name: median_of_nine
// items: n, n
// sizes: image
// T: float | uchar | int
// image: n * n
// middle: n * n
__kernel void median_of_nine(__global const T *image, __global T *middle, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    T v[9];
    for (int k = 0; k < 9; k++)
        v[k] = image[(y + k / 3 - 1) * n + x + k % 3 - 1];
    for (int i = 0; i < 5; i++)
        for (int j = i + 1; j < 9; j++)
            if (v[j] < v[i]) {
                const T swap = v[i];
                v[i] = v[j];
                v[j] = swap;
            }
    middle[y * n + x] = v[4];
}

// name: grey
// items: n
// sizes: line
// T: uchar | float
// colour: 3 * n
__kernel void grey(__global const T *colour, __global T *grey, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        grey[i] = (T)(0.299f * colour[3 * i] + 0.587f * colour[3 * i + 1] + 0.114f * colour[3 * i + 2]);
}

// name: dilate
// items: n, n
// sizes: image
// T: uchar | float
// R: 2
// image: n * n
// wide: n * n
__kernel void dilate(__global const T *image, __global T *wide, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n)
        return;
    T top = 0;
    for (int sy = max(y - R, 0); sy <= min(y + R, n - 1); sy++)
        for (int sx = max(x - R, 0); sx <= min(x + R, n - 1); sx++)
            if (image[sy * n + sx] > top)
                top = image[sy * n + sx];
    wide[y * n + x] = top;
}

// name: brightness_curve
// items: n
// sizes: line
// T: float
// gamma: 0.45
__kernel void brightness_curve(__global const T *image, __global T *result, const int n, const T gamma)
{
    const int i = get_global_id(0);
    if (i < n)
        result[i] = pow(image[i] + 0.001f, gamma);
}

// name: resize
// items: n, n
// sizes: plane
// T: float | uchar
// image: 256 * 256
// larger: n * n
__kernel void resize(__global const T *image, __global float *larger, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n)
        return;
    const float sx = x * 254.0f / n, sy = y * 254.0f / n;
    const int ix = (int)sx, iy = (int)sy;
    const float fx = sx - ix, fy = sy - iy;
    const float above = image[iy * 256 + ix] * (1 - fx) + image[iy * 256 + ix + 1] * fx;
    const float below = image[(iy + 1) * 256 + ix] * (1 - fx) + image[(iy + 1) * 256 + ix + 1] * fx;
    larger[y * n + x] = above * (1 - fy) + below * fy;
}

// name: fir
// items: n
// cpu: 2048, 16384, 131072
// gpu: 65536, 524288, 4194304
// T: float | double
// TAPS: 16 | 64
// signal: n + TAPS
// tap: TAPS
__kernel void fir(__global const T *signal, __global const T *tap, __global T *filtered, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    T sum = 0;
    for (int k = 0; k < TAPS; k++)
        sum += signal[i + k] * tap[k];
    filtered[i] = sum;
}

// name: block_cosines
// items: n, n
// cpu: 32, 128, 384
// gpu: 256, 1024, 4096
// T: float
// image: n * n
// cosine: 64
// result: n * n
__kernel void block_cosines(__global const T *image, __global const T *cosine, __global T *result, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n)
        return;
    const int x0 = x / 8 * 8, u = x % 8;
    T sum = 0;
    for (int k = 0; k < 8; k++)
        sum += image[y * n + x0 + k] * cosine[u * 8 + k];
    result[y * n + x] = sum;
}
