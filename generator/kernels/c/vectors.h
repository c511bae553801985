/* Vectors of sixteen float32, by the compiler's own vector types: one source for every cpu. */

#pragma once
#include <stdint.h>
#include <string.h>

enum { LANES = 16, MAX_HEAD_DIM = 1024 /* dimensions of a head */ };
enum Dtype { F32 = 0, BF16 = 1, Q4 = 4, Q8 = 8 };

typedef float Floats __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef float Eight __attribute__((vector_size(2 * LANES)));
typedef float Four __attribute__((vector_size(LANES)));
typedef uint32_t Words __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef uint16_t Halves __attribute__((vector_size(2 * LANES), aligned(2), may_alias));

static inline Floats from_bf16(const uint16_t *from) {
    Halves halves = *(const Halves *)from;
    return (Floats)(__builtin_convertvector(halves, Words) << 16);
}

static inline uint16_t to_bf16(float number) {
    uint32_t bits;
    memcpy(&bits, &number, 4);
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static inline void store_bf16(uint16_t *to, Floats numbers) {
    Words bits = (Words)numbers;
    *(Halves *)to = __builtin_convertvector((bits + 0x7fff + ((bits >> 16) & 1)) >> 16, Halves);
}

static inline Floats load(const void *from, int64_t at, const int dtype) {
    return dtype == BF16 ? from_bf16((const uint16_t *)from + at)
                        : *(const Floats *)((const float *)from + at);
}

static inline float load_one(const void *from, int64_t at, const int dtype) {
    if (dtype == F32) return ((const float *)from)[at];
    uint32_t bits = (uint32_t)((const uint16_t *)from)[at] << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static inline float total(Floats each) {
    Eight low, high; /* copied, as not every compiler shuffles by one name */
    memcpy(&low, &each, sizeof low);
    memcpy(&high, (const char *)&each + sizeof low, sizeof high);
    low += high;
    Four one, two;
    memcpy(&one, &low, sizeof one);
    memcpy(&two, (const char *)&low + sizeof one, sizeof two);
    one += two;
    return (one[0] + one[1]) + (one[2] + one[3]);
}

/* e to the x, to one part in ten million; 0 far below 0. */
static inline Floats exponential(Floats x) {
    const Floats zero = {0}, round = zero + 12582912.0f;
    Words low = (Words)(x < -87.0f), high = (Words)(x > 88.0f);
    x = (Floats)((~(low | high) & (Words)x) | (high & (Words)(zero + 88.0f)));
    Floats whole = (x * 1.44269504f + round) - round;
    Floats rest = (x - whole * 0.693145751953125f) - whole * 1.42860677e-6f;
    Floats series = zero + 1.0f / 720;
    series = series * rest + 1.0f / 120;
    series = series * rest + 1.0f / 24;
    series = series * rest + 1.0f / 6;
    series = series * rest + 0.5f;
    series = series * rest * rest + rest + 1.0f;
    Words power = ((Words)(whole + (round + 127.0f)) << 23);
    return (Floats)((Words)(series * (Floats)power) & ~low);
}
