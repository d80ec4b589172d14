// Elements of several widths in one loop.
// FROM_SAMPLES: int16_t/float | uint8_t/float | int/double | int8_t/float | uint16_t/double
// TO_SAMPLES: float/int16_t | float/uint8_t | double/int16_t | double/int | float/int8_t
// weight: 4

// name: convert
// T: WIDENING | NARROWING
// x: n: percent
void kernel(U *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = (U)x[i];
}

// name: widened product
// T: WIDENING
void kernel(U *out, const T *a, const T *b, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = (U)a[i] * (U)b[i];
}

// name: samples to numbers
// T: FROM_SAMPLES
// scale: 0.03125
void kernel(U *out, const T *samples, U scale, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = samples[i] * scale;
}

// name: numbers to samples
// T: TO_SAMPLES
// scale: 1.5
// x: n: any
void kernel(U *out, const T *x, T scale, I n)
{
    @for (I i = 0; i < n; i++) {
        T v = x[i] * scale;
        out[i] = v > 100 ? 100 : v < 0 ? 0 : (U)v;
    }
}

// name: fixed-point scaling
// T: NARROW
// factor: 200
void kernel(T *x, int factor, I n)
{
    @for (I i = 0; i < n; i++)
        x[i] = (x[i] * factor + 128) >> 8;
}

// name: fixed-point mix
// T: NARROW
// share: 77
void kernel(T *out, const T *a, const T *b, int share, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = (T)((a[i] * (256 - share) + b[i] * share) >> 8);
}

// name: packed halves
// T: uint32_t
// weight: 3
// low: n: any
// high: n: any
void kernel(uint32_t *out, const uint16_t *low, const uint16_t *high, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = (uint32_t)high[i] << 16 | low[i];
}

// name: high half of a product
// T: uint8_t/uint16_t | uint16_t/uint32_t | uint32_t/uint64_t | int16_t/int
// K: 4 | 8
void kernel(T *out, const T *a, const T *b, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = (T)((U)a[i] * (U)b[i] >> K);
}

// name: mixed accumulation
// T: WIDENING_DEFINED
void kernel(U *sum, const T *x, const uint8_t *weight_of, I n)
{
    @for (I i = 0; i < n; i++)
        sum[i] += (U)(x[i] * weight_of[i]);
}

// name: three widths
// T: int16_t/int | int/int64_t | int/double | float/double | int16_t/float
void kernel(U *out, const uint8_t *a, const T *b, const U *c, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = c[i] - a[i] * b[i];
}

// name: mask of comparison
// x: n: percent
// limit: 50
void kernel(uint8_t *mask, const T *x, T limit, I n)
{
    @for (I i = 0; i < n; i++)
        mask[i] = x[i] < limit;
}

// name: dequantized
// T: int8_t/float | uint8_t/float | int16_t/double
// scale: n / 32 + 1
// zero: 8
void kernel(U *out, const T *q, const U *scale, int zero, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = (q[i] - zero) * scale[i / 32];
}

// name: counter stored narrow
// T: uint8_t/uint32_t | uint16_t/uint64_t | uint8_t/uint16_t | uint32_t/uint64_t
// weight: 3
void kernel(T *out, const U *x, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = (T)(x[i] + (U)i);
}

// name: nibbles joined
// T: uint8_t | uint16_t | uint32_t
// x: 2 * n
void kernel(uint8_t *out, const T *x, I n)
{
    @for (I i = 0; i < n; i++)
        out[i] = (x[2 * i] & 15) | (x[2 * i + 1] & 15) << 4;
}

// name: nibbles parted
// T: uint8_t | int16_t | float
// out: 2 * n
// x: n: any
void kernel(T *out, const uint8_t *x, I n)
{
    @for (I i = 0; i < n; i++) {
        out[2 * i] = x[i] & 15;
        out[2 * i + 1] = x[i] >> 4;
    }
}
