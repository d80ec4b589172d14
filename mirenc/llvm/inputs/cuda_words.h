/* CUDA's words where no CUDA is installed, for a clang that is told -nocudainc: what device code needs, from the
   headers that clang brings itself. The IR is then as with CUDA's own headers: sqrtf becomes __nv_sqrtf. */
#ifndef MIRENC_CUDA_WORDS_H
#define MIRENC_CUDA_WORDS_H

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

#define CUDA_VERSION 12000
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include <__clang_cuda_builtin_vars.h>
#include <__clang_cuda_libdevice_declares.h>
#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>

/* What CUDA's own headers make of clang's. */
#define MIRENC_ATOMICS(letter, type)                                                                             \
    __device__ __forceinline__ type atomicAdd(type *at, type by) { return __##letter##AtomicAdd(at, by); }       \
    __device__ __forceinline__ type atomicExch(type *at, type by) { return __##letter##AtomicExch(at, by); }
#define MIRENC_WHOLE_ATOMICS(letter, type)                                                                       \
    MIRENC_ATOMICS(letter, type)                                                                                 \
    __device__ __forceinline__ type atomicMax(type *at, type by) { return __##letter##AtomicMax(at, by); }       \
    __device__ __forceinline__ type atomicMin(type *at, type by) { return __##letter##AtomicMin(at, by); }       \
    __device__ __forceinline__ type atomicCAS(type *at, type was, type by) { return __##letter##AtomicCAS(at, was, by); }
#define MIRENC_ORDER(type)                                                                                       \
    __device__ __forceinline__ type min(type a, type b) { return a < b ? a : b; }                                \
    __device__ __forceinline__ type max(type a, type b) { return a < b ? b : a; }

MIRENC_WHOLE_ATOMICS(i, int)
MIRENC_WHOLE_ATOMICS(u, unsigned int)
MIRENC_WHOLE_ATOMICS(ull, unsigned long long)
MIRENC_ATOMICS(f, float)
MIRENC_ORDER(unsigned int)
MIRENC_ORDER(long long)
MIRENC_ORDER(unsigned long long)
__device__ __forceinline__ float min(float a, float b) { return __nv_fminf(a, b); }
__device__ __forceinline__ float max(float a, float b) { return __nv_fmaxf(a, b); }
__device__ __forceinline__ double min(double a, double b) { return __nv_fmin(a, b); }
__device__ __forceinline__ double max(double a, double b) { return __nv_fmax(a, b); }

#endif
