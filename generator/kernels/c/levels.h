/* Weights that were distributed in 4 or 8 bits, found again on their levels after rounding to bfloat16. */

#pragma once
#include "matrices.h"

enum { FITS = 8 };

/* A group of weights, or of their codes. */
typedef struct {
    Floats half[2];
} Group;

static inline Floats smaller(Floats one, Floats other) { return picked((Words)(one < other), one, other); }
static inline Floats larger(Floats one, Floats other) { return picked((Words)(one > other), one, other); }

static inline float lowest(Group group) {
    Floats found = smaller(group.half[0], group.half[1]);
    float low = found[0];
    for (int i = 1; i < LANES; i++) low = found[i] < low ? found[i] : low;
    return low;
}

static inline Group negative(Group group) { return (Group){{-group.half[0], -group.half[1]}}; }

/* Sets the codes to the nearest of [least, most]; whether that changed any. */
static inline int nearest(Group weight, float step, float offset, float least, float most, Group *code) {
    const Floats zero = {0}, round = zero + 12582912.0f;
    Words moved = {0};
    for (int h = 0; h < 2; h++) {
        Floats found = (((weight.half[h] - offset) / step) + round) - round;
        found = larger(smaller(found, zero + most), zero + least);
        moved |= (Words)(found != code->half[h]);
        code->half[h] = found;
    }
    return total(picked(moved, zero + 1.0f, zero)) > 0;
}

/* The step and the offset with which the codes are nearest to the weights: that takes roundings out. */
static inline void fit(Group weight, Group code, int bits, float *step, float *offset) {
    const float squares = total(code.half[0] * code.half[0] + code.half[1] * code.half[1]);
    const float both = total(code.half[0] * weight.half[0] + code.half[1] * weight.half[1]);
    if (bits == 8) {
        *step = both / squares;
        return;
    }
    const float codes = total(code.half[0] + code.half[1]), weights = total(weight.half[0] + weight.half[1]);
    if (squares * GROUP <= codes * codes) return;
    *step = (both - codes * weights / GROUP) / (squares - codes * codes / GROUP);
    *offset = (weights - *step * codes) / GROUP;
}

/* The codes of 32 weights on 2^bits levels; 0 where they lie on none. Each weight is then no further
   from its level than roundings to bfloat16 account for. Tried: in 4 bits, that the extremes lie fewer
   than 15 levels apart; in 8, that the largest weight was rounded either way. */
static int on_levels(Group weight, int bits, Group *code, float *step, float *offset) {
    const Floats zero = {0};
    const float low = lowest(weight), high = -lowest(negative(weight));
    const float most = -low > high ? -low : high, narrow = most * (1.0f / 128);
    *code = (Group){{zero, zero}};
    *step = 0, *offset = low;
    if (low == high) return 1;
    for (int attempt = 0; attempt < (bits == 4 ? 15 : 9); attempt++) {
        const int apart = bits == 4 ? 15 - attempt : 127, least = bits == 4 ? 0 : -127;
        const float nudge = 0.001f * ((attempt + 1) / 2) * (attempt & 1 ? 1 : -1);
        *step = bits == 4 ? (high - low) / apart : most / apart * (1 + nudge);
        *offset = bits == 4 ? low : 0;
        for (int again = 0; again < FITS; again++) {
            if (!nearest(weight, *step, *offset, (float)least, (float)apart, code)) break;
            fit(weight, *code, bits, step, offset);
        }
        Words wrong = {0};
        for (int h = 0; h < 2; h++) {
            Floats off = weight.half[h] - (code->half[h] * *step + *offset), size = weight.half[h];
            off = larger(off, -off), size = larger(size, -size);
            wrong |= (Words)(off > (bits == 4 ? zero + narrow : size / 192 + *step / 32));
        }
        if (total(picked(wrong, zero + 1.0f, zero)) == 0) return 1;
    }
    return 0;
}

/* Packs bfloat16 weights (rows, columns) as a matrix of levels; 0 where some group lies on none.
   Rows must be a multiple of 16, columns one of 32. */
int pack(const uint16_t *weights, int64_t rows, int64_t columns, int32_t bits, uint32_t *words,
         float *scales, int32_t threads) {
    int failed = 0;
    const int each = 32 / bits, middle = bits == 8 ? 128 : 0;
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static)
#endif
    for (int64_t row = 0; row < rows; row++) {
        if (__atomic_load_n(&failed, __ATOMIC_RELAXED)) continue;
        const int64_t block = row / LANES, lane = row % LANES;
        for (int64_t group = 0; group < columns / GROUP; group++) {
            const uint16_t *from = weights + row * columns + group * GROUP;
            Group weight = {{half_floats(from), half_floats(from + LANES)}}, code;
            float step, offset;
            if (!on_levels(weight, bits, &code, &step, &offset)) {
                __atomic_store_n(&failed, 1, __ATOMIC_RELAXED);
                break;
            }
            float plain[GROUP];
            memcpy(plain, &code, sizeof plain);
            float *scale = scales + (block * (columns / GROUP) + group) * 2 * LANES + lane;
            const float range = (float)(1 << bits);
            scale[0] = step * range;
            scale[LANES] = offset - step * (range + middle);
            for (int i = 0; i < GROUP; i += each) {
                uint32_t word = 0;
                for (int j = 0; j < each; j++) word |= (uint32_t)((int)plain[i + j] + middle) << (bits * j);
                words[(block * (columns / each) + (group * GROUP + i) / each) * LANES + lane] = word;
            }
        }
    }
    return !failed;
}
