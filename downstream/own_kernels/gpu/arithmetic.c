// Much arithmetic for each element: prices, hashes, random numbers, transforms.

// name: option_price
// items: n
// cpu: 1024, 16384, 131072
// gpu: 65536, 524288, 4194304
// T: float | double
// spot: n: low=10 high=100
// strike: n: low=10 high=100
// years: n: low=0.2 high=2
// rate: 0.02
// volatility: 0.3
T normal_below(T x)
{
    const T k = 1 / (1 + (T)0.2316419 * fabs(x));
    const T tail = (T)0.3989423 * exp(-x * x / 2) * k
                    * ((T)0.3193815 + k * ((T)-0.3565638 + k * ((T)1.781478 + k * ((T)-1.821256 + k * (T)1.330274))));
    return x > 0 ? 1 - tail : tail;
}

__kernel void option_price(
    __global const T *spot,
    __global const T *strike,
    __global const T *years,
    __global T *price,
    const int n,
    const T rate,
    const T volatility)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    const T root = volatility * sqrt(years[i]);
    const T d1 = (log(spot[i] / strike[i]) + (rate + volatility * volatility / 2) * years[i]) / root;
    const T discounted = strike[i] * exp(-rate * years[i]);
    price[i] = spot[i] * normal_below(d1) - discounted * normal_below(d1 - root);
}

// name: mix_bits
// items: n
// sizes: line
// T: uint | ulong
// ROUNDS: 2 | 16
// key: n: low=0 high=1000000
__kernel void mix_bits(__global const T *key, __global T *hash, const int n)
{
    const int i = get_global_id(0);
    if (i < n) {
        T h = key[i];
        for (int round = 0; round < ROUNDS; round++) {
            h ^= h >> 15;
            h *= 0x2c1b3c6du;
            h ^= h >> 12;
            h *= 0x297a2d39u;
        }
        hash[i] = h;
    }
}

// name: random_fill
// items: n
// sizes: line
// T: uint
// seed: 2463534242
uint shuffle(uint state)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

__kernel void random_fill(__global float *value, const int n, const uint seed)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    uint state = seed ^ (i * 2654435761u + 1);
    for (int k = 0; k < 6; k++)
        state = shuffle(state);
    value[i] = (state >> 8) / 16777216.0f;
}

// name: checksum
// items: n
// cpu: 512, 4096, 32768
// gpu: 8192, 65536, 524288
// T: uchar
// message: 32 * n: high=256
__kernel void checksum(__global const T *message, __global uint *sum, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    uint crc = 0xffffffffu;
    for (int k = 0; k < 32; k++) {
        crc ^= message[i * 32 + k];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? (crc >> 1) ^ 0xedb88320u : crc >> 1;
    }
    sum[i] = ~crc;
}

// name: bit_distance
// items: n
// sizes: line
// T: uint
// a: n: low=0 high=4000000000
// b: n: low=0 high=4000000000
__kernel void bit_distance(__global const T *a, __global const T *b, __global uchar *distance, const int n)
{
    const int i = get_global_id(0);
    if (i < n) {
        T v = a[i] ^ b[i];
        v = v - ((v >> 1) & 0x55555555u);
        v = (v & 0x33333333u) + ((v >> 2) & 0x33333333u);
        v = (v + (v >> 4)) & 0x0f0f0f0fu;
        distance[i] = (v * 0x01010101u) >> 24;
    }
}

// name: activation
// items: n
// sizes: line
// T: float | double
// KIND: v / (1 + exp(-v)) | v > 0 ? v : (T)0.01 * v | tanh(v)
// x: n: low=-4 high=4
__kernel void activation(__global const T *x, __global T *y, const int n)
{
    const int i = get_global_id(0);
    if (i < n) {
        const T v = x[i];
        y[i] = KIND;
    }
}

// name: fourier_sum
// items: n
// cpu: 64, 256, 768
// gpu: 512, 2048, 8192
// T: float | double
__kernel void fourier_sum(__global const T *signal, __global T *power, const int n)
{
    const int k = get_global_id(0);
    if (k >= n)
        return;
    T re = 0, im = 0;
    for (int t = 0; t < n; t++) {
        const T angle = (T)6.2831853 * (k * t % n) / n;
        re += signal[t] * cos(angle);
        im -= signal[t] * sin(angle);
    }
    power[k] = re * re + im * im;
}

// name: butterfly
// items: n // 2
// sizes: line
// T: float | double
// SPAN: 2 | 64
__kernel void butterfly(
    __global const T *in_re,
    __global const T *in_im,
    __global T *out_re,
    __global T *out_im,
    const int n)
{
    const int i = get_global_id(0);
    if (i >= n / 2)
        return;
    const int j = i % SPAN;
    const int top = i / SPAN * SPAN * 2 + j;
    const int bottom = top + SPAN;
    const T angle = (T)-3.1415927 * j / SPAN;
    const T wr = cos(angle), wi = sin(angle);
    const T br = in_re[bottom] * wr - in_im[bottom] * wi;
    const T bi = in_re[bottom] * wi + in_im[bottom] * wr;
    out_re[top] = in_re[top] + br;
    out_im[top] = in_im[top] + bi;
    out_re[bottom] = in_re[top] - br;
    out_im[bottom] = in_im[top] - bi;
}

// name: wavelet_step
// items: n // 2
// sizes: line
// T: float | double
// pairs: n//2
__kernel void wavelet_step(__global const T *x, __global T *y, const int pairs)
{
    const int i = get_global_id(0);
    if (i < pairs) {
        const T a = x[2 * i], b = x[2 * i + 1];
        y[i] = (a + b) * (T)0.7071068;
        y[pairs + i] = (a - b) * (T)0.7071068;
    }
}

// name: quarter_circle
// items: n
// cpu: 512, 4096, 32768
// gpu: 16384, 131072, 1048576
// T: float
__kernel void quarter_circle(__global int *hits, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    uint state = i * 9781u + 7u;
    int inside = 0;
    for (int k = 0; k < 64; k++) {
        state = state * 1664525u + 1013904223u;
        const T x = (state >> 8) / 16777216.0f;
        state = state * 1664525u + 1013904223u;
        const T y = (state >> 8) / 16777216.0f;
        if (x * x + y * y < 1)
            inside++;
    }
    hits[i] = inside;
}

// name: ray_spheres
// items: n, n
// cpu: 32, 96, 256
// gpu: 256, 1024, 2048
// T: float
// sphere: 4 * 24
// depth: n * n
__kernel void ray_spheres(__global const T *sphere, __global T *depth, const int n)
{
    const int px = get_global_id(0), py = get_global_id(1);
    if (px >= n || py >= n)
        return;
    const T dx = (T)px / n - 0.5f, dy = (T)py / n - 0.5f;
    const T scale = 1 / sqrt(dx * dx + dy * dy + 1);
    T nearest = 100;
    for (int s = 0; s < 24; s++) {
        const T cx = sphere[4 * s] - 0.5f, cy = sphere[4 * s + 1] - 0.5f, cz = 2 + sphere[4 * s + 2];
        const T along = (cx * dx + cy * dy + cz) * scale;
        const T gap = cx * cx + cy * cy + cz * cz - along * along;
        const T radius = 0.2f * sphere[4 * s + 3];
        if (gap < radius * radius) {
            const T hit = along - sqrt(radius * radius - gap);
            nearest = fmin(nearest, hit);
        }
    }
    depth[py * n + px] = nearest;
}
