// other processors' instructions |  | program
#include <immintrin.h>
__attribute__((target("avx2"))) static __m256i load(const int *p) { return _mm256_loadu_si256((const __m256i *)p); }
__attribute__((target("avx2"))) static int wide(const int *p) { __m256i v = _mm256_add_epi32(load(p), load(p + 8)); int t[8]; _mm256_storeu_si256((__m256i *)t, v); int s = 0; for (int i = 0; i < 8; i++) s += t[i]; return s; }
static int narrow(const int *p) { int s = 0; for (int i = 0; i < 16; i++) s += p[i]; return s; }
static int one(int x) { int list[16]; for (int i = 0; i < 16; i++) list[i] = BODY(x + i); return __builtin_cpu_supports("avx2") ? wide(list) : narrow(list); }
int f(int x) { return USES(one, x); }
// ----
#include <stdio.h>
int f(int);
int main(void) { printf("%d\n", f(K)); return 0; }
