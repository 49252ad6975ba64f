"""What the C of every kernel begins with: the types of lanes, and the few operations that C has no sign for.

`V` is one number per world of a tile, a vector of GCC and Clang (or a plain number where a tile is one world), `M`
the truth values that comparing two of them gives, `fp` one number, `I` an integer. The square root, rounding down and
`ANY` are intrinsics in parts as wide as a register where there are some, else loops over the lanes.
"""

from __future__ import annotations

ALIGNED = 64
"""Bytes at multiples of which buffers begin: wider vectors must not be taken to be aligned to more."""


def prelude(lanes: int, precision: str) -> str:
    """The beginning of a source for so many worlds side by side."""
    return f"#define W {lanes}\n#define F32 {int(precision == 'f32')}\n#define ALIGNED {ALIGNED}\n{_TEXT}"


_TEXT = r"""#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
typedef int64_t I;
#if F32
typedef float fp;
#define SIZE 4
#define SSQRT(x) __builtin_sqrtf(x)
#define SFLOOR(x) __builtin_floorf(x)
#define SEXP(x) expf(x)
#else
typedef double fp;
#define SIZE 8
#define SSQRT(x) __builtin_sqrt(x)
#define SFLOOR(x) __builtin_floor(x)
#define SEXP(x) exp(x)
#endif
#define BYTES (W * SIZE)
#define INLINE static inline __attribute__((always_inline, unused))
INLINE I floordiv(I a, I b) { I q = a / b; return q - ((a % b != 0) & ((a < 0) != (b < 0))); }
INLINE I floormod(I a, I b) { I m = a % b; return m + (((m != 0) & ((m < 0) != (b < 0))) ? b : 0); }
INLINE I shifted(I a, I b) { return (I)((uint64_t)a << b); }
/* as the processor converts: what does not fit is the least number there is */
INLINE I whole(fp x) { return x > (fp)-2147483649.0 && x < (fp)2147483648.0 ? (I)(int32_t)x : (I)INT32_MIN; }
/* How reals are computed while a kernel runs, whatever the thread was told: to the nearest, and what is too small to
   be a normal number becomes 0, as with the other printers */
#if defined(__SSE__)
typedef unsigned int mode;
INLINE mode enter(void) { const mode before = _mm_getcsr(); _mm_setcsr(0x9f80); return before; }
INLINE void leave(mode before) { _mm_setcsr(before); }
#elif defined(__aarch64__)
typedef uint64_t mode;
INLINE void leave(mode before) { __asm__ volatile("msr fpcr, %0" : : "r"(before)); }
INLINE mode enter(void) {
  mode before;
  __asm__ volatile("mrs %0, fpcr" : "=r"(before));
  leave((mode)1 << 24);
  return before;
}
#else
typedef int mode;
INLINE mode enter(void) { return 0; }
INLINE void leave(mode before) { (void)before; }
#endif
/* the second number where one of the two is NaN, as the processor's own instructions have it */
#define SMIN(a, b) ((a) < (b) ? (a) : (b))
#define SMAX(a, b) ((a) > (b) ? (a) : (b))
#if W == 1
typedef fp V;
typedef int M;
#define SPL(x) (x)
#define VSQRT SSQRT
#define VFLOOR SFLOOR
#define ANY(m) (m)
#define NOT(m) (!(m))
#define SEL(m, a, b) ((m) ? (a) : (b))
#define LANE(x, i) (x)
#define SETLANE(x, i, v) ((x) = (v))
#else
#define LANE(x, i) ((x)[i])
#define SETLANE(x, i, v) ((x)[i] = (v))
#if BYTES > ALIGNED
#define AT_MOST __attribute__((aligned(ALIGNED)))
#else
#define AT_MOST
#endif
#ifdef __clang__
typedef fp V __attribute__((ext_vector_type(W))) AT_MOST;
#define SPL(x) ((V)(x))
#else
typedef fp V __attribute__((vector_size(BYTES))) AT_MOST;
INLINE V SPL(fp x) { return x - (V){0}; }
#endif
typedef __typeof__((V){0} < (V){0}) M; /* integers that are `long` here and `long long` there */
#define NOT(m) (~(m))
#if defined(__clang__) || defined(__cplusplus)
#define SEL(m, a, b) ((m) ? (a) : (b))
#else
INLINE V SEL(M m, V a, V b) { return (V)((m & (M)a) | (~m & (M)b)); }
#endif
#if defined(__AVX512F__) && defined(__AVX512DQ__) && BYTES >= 64
#define PART 64
#elif defined(__AVX__) && BYTES >= 32
#define PART 32
#elif defined(__SSE4_1__) && BYTES >= 16
#define PART 16
#else
#define PART 0
#endif
#if PART
#define PARTS (BYTES / PART)
#if PART == 64
#if F32
typedef __m512 part;
#define PSQRT _mm512_sqrt_ps
#define PFLOOR(x) _mm512_roundscale_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#else
typedef __m512d part;
#define PSQRT _mm512_sqrt_pd
#define PFLOOR(x) _mm512_roundscale_pd(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#endif
typedef __m512i truths;
#define PANY(x) (_mm512_test_epi64_mask(x, x) != 0)
#elif PART == 32
#if F32
typedef __m256 part;
#define PSQRT _mm256_sqrt_ps
#define PFLOOR _mm256_floor_ps
#else
typedef __m256d part;
#define PSQRT _mm256_sqrt_pd
#define PFLOOR _mm256_floor_pd
#endif
typedef __m256i truths;
#define PANY(x) (!_mm256_testz_si256(x, x))
#else
#if F32
typedef __m128 part;
#define PSQRT _mm_sqrt_ps
#define PFLOOR _mm_floor_ps
#else
typedef __m128d part;
#define PSQRT _mm_sqrt_pd
#define PFLOOR _mm_floor_pd
#endif
typedef __m128i truths;
#define PANY(x) (!_mm_testz_si128(x, x))
#endif
typedef union { V v; part p[PARTS]; } parted;
typedef union { M m; truths p[PARTS]; } parted_truths;
INLINE V VSQRT(V x) { parted u = {x}; for (int i = 0; i < PARTS; i++) u.p[i] = PSQRT(u.p[i]); return u.v; }
INLINE V VFLOOR(V x) { parted u = {x}; for (int i = 0; i < PARTS; i++) u.p[i] = PFLOOR(u.p[i]); return u.v; }
INLINE int ANY(M m) {
  parted_truths u = {m};
  truths t = u.p[0];
  for (int i = 1; i < PARTS; i++) t |= u.p[i];
  return PANY(t);
}
#else
INLINE V VSQRT(V x) { for (int i = 0; i < W; i++) x[i] = SSQRT(x[i]); return x; }
INLINE V VFLOOR(V x) { for (int i = 0; i < W; i++) x[i] = SFLOOR(x[i]); return x; }
INLINE int ANY(M m) { int t = 0; for (int i = 0; i < W; i++) t |= m[i] != 0; return t; }
#endif
#endif
#define VMIN(a, b) SEL((a) < (b), a, b)
#define VMAX(a, b) SEL((a) > (b), a, b)
"""

SELFTEST = r"""
#ifdef __cplusplus
#define EXPORTED extern "C" __attribute__((visibility("default")))
#else
#define EXPORTED __attribute__((visibility("default")))
#endif
EXPORTED int dovetail_selftest(double a, double b, double c, float d, float e, float f) {
  volatile double x = a, y = b, z = c;
  volatile float u = d, v = e, w = f;
  const double p = x * y + z;
  const float q = u * v + w;
  return (p == 0.0) | ((q == 0.0f) << 1);
}
"""
"""Bits 0 and 1: the sum of a product and a number is 0 in double, in single precision. With numbers of which the
rounded product cancels, it is not where the compiler contracts the two operations."""
