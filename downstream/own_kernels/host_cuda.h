/* CUDA for a C++ compiler of the CPU, as far as the project's kernels use it.

   The threads of a block run one after the other. Those of a kernel with barriers have a stack each, and a thread that
   meets a barrier lets the next one go on. */
#include <math.h>
#include <ucontext.h>

#define __global__
#define __device__ static
#define __shared__

struct Place {
    unsigned x, y;
};
static Place gridDim, blockDim, blockIdx, threadIdx;

/* The address of an argument, which becomes a value of the type that its parameter has. */
struct Argument {
    void *address;
    template <class T> operator T() const { return *(T *)address; }
};
typedef void Call(Argument *);

template <class T> static T min(T a, T b) { return a < b ? a : b; }
template <class T> static T max(T a, T b) { return a < b ? b : a; }
static float rsqrtf(float x) { return 1 / sqrtf(x); }
template <class T> static T exchange(T *at, T value)
{
    T old = *at;
    *at = value;
    return old;
}
template <class T, class U> static T atomicAdd(T *at, U by) { return exchange(at, T(*at + by)); }
template <class T, class U> static T atomicMin(T *at, U by) { return exchange(at, min(*at, T(by))); }
template <class T, class U> static T atomicMax(T *at, U by) { return exchange(at, max(*at, T(by))); }

const unsigned most_threads = 1024;
static ucontext_t block, threads[most_threads];
static char stacks[most_threads][65536];
static bool waits[most_threads]; /* at a barrier, or for its start */
static unsigned thread;
static Call *kernel;
static Argument *arguments;

static void __syncthreads() { swapcontext(&threads[thread], &block); }

static void run_thread()
{
    kernel(arguments);
    waits[thread] = false;
}

static void run_block(bool barriers)
{
    const unsigned count = blockDim.x * blockDim.y;
    for (unsigned i = 0; barriers && i < count; i++) {
        getcontext(&threads[i]);
        threads[i].uc_stack = {.ss_sp = stacks[i], .ss_size = sizeof stacks[i]};
        threads[i].uc_link = &block;
        makecontext(&threads[i], run_thread, 0);
        waits[i] = true;
    }
    for (bool going = true; going;) {
        going = false;
        for (thread = 0; thread < count; thread++) {
            threadIdx = {thread % blockDim.x, thread / blockDim.x};
            if (!barriers)
                kernel(arguments);
            else if (waits[thread]) {
                swapcontext(&block, &threads[thread]);
                going |= waits[thread];
            }
        }
    }
}

extern "C" void launch(Call *call, Argument *values, const unsigned *grid, const unsigned *shape, bool barriers)
{
    kernel = call, arguments = values;
    gridDim = {grid[0], grid[1]}, blockDim = {shape[0], shape[1]};
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; blockIdx.y++)
        for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++)
            run_block(barriers);
}
