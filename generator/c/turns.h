/* Queries or keys of a prompt's tokens, turned where they lie: every pair of numbers of a head by the
   angle of its token and group. By one thread: PyTorch's own wait busily between their pieces of work. */

#pragma once
#include "vectors.h"

static inline void turned_floats(float *first, float *second, const float *cosine, const float *sine, int pairs) {
    for (int i = 0; i < pairs; i++) {
        const float one = first[i], other = second[i];
        first[i] = one * cosine[i] - other * sine[i];
        second[i] = other * cosine[i] + one * sine[i];
    }
}

static inline void turned_halves(uint16_t *first, uint16_t *second, const float *cosine, const float *sine, int pairs) {
    for (int i = 0; i < pairs; i++) {
        const float one = number(first, i, BF16), other = number(second, i, BF16);
        first[i] = as_half(one * cosine[i] - other * sine[i]);
        second[i] = as_half(other * cosine[i] + one * sine[i]);
    }
}

/* States (tokens, groups, each, size); waves (period, groups or 1, pairs), those of token % period. */
void turn_tokens(void *states, int32_t kind, int64_t tokens, int32_t groups, int32_t each, int32_t size,
          const float *cosines, const float *sines, int64_t period, int32_t waves, int32_t pairs) {
    for (int64_t token = 0; token < tokens; token++)
        for (int64_t head = 0; head < (int64_t)groups * each; head++) {
            const int64_t group = waves == 1 ? 0 : head / each;
            const int64_t wave = ((token % period) * waves + group) * pairs;
            const int64_t at = (token * groups * each + head) * size;
            if (kind == BF16) {
                uint16_t *here = (uint16_t *)states + at;
                turned_halves(here, here + pairs, cosines + wave, sines + wave, pairs);
            } else {
                float *here = (float *)states + at;
                turned_floats(here, here + pairs, cosines + wave, sines + wave, pairs);
            }
        }
}
