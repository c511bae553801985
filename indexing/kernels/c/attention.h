/* One head of one text: its scores never leave the caches. */

#pragma once
#include <math.h>

#include "tiles.h"

typedef struct {
    Bf16 *keys;   /* transposed: by 16 keys and 32 dimensions, a tile whose rows are pairs of dimensions */
    Bf16 *values; /* by 32 keys and 16 dimensions, a tile whose rows are pairs of keys */
    Bf16 *queries, *probabilities; /* (16, head_dim) and (16, padded) */
    float *scores, *sums;          /* (16, padded) and (16, 32) */
} AttentionSpace;

static inline int64_t attention_bytes(int padded, int head_dim) {
    return 4LL * padded * head_dim + 2LL * SIDE * (padded + head_dim) + 4LL * SIDE * (padded + DEEP);
}

static inline AttentionSpace attention_space(char *from, int padded, int head_dim) {
    AttentionSpace space = {.keys = (Bf16 *)from};
    space.values = space.keys + padded * head_dim;
    space.queries = space.values + padded * head_dim;
    space.probabilities = space.queries + SIDE * head_dim;
    space.scores = (float *)(space.probabilities + SIDE * padded);
    space.sums = space.scores + SIDE * padded;
    return space;
}

/* 32 dimensions of a token, zeros past the last token. */
static inline __m512i dimensions(const Bf16 *from, int64_t stride, int token, int tokens) {
    return token < tokens ? _mm512_loadu_si512(from + token * stride) : _mm512_setzero_si512();
}

static inline void lay_out_keys(const Bf16 *keys, int64_t stride, int tokens, int padded, int head_dim, Bf16 *to) {
    for (int t = 0; t < padded; t += SIDE)
        for (int d = 0; d < head_dim; d += DEEP) {
            __m512i rows[SIDE];
            for (int i = 0; i < SIDE; i++) rows[i] = dimensions(keys + d, stride, t + i, tokens);
            transpose(rows);
            for (int i = 0; i < SIDE; i++, to += DEEP) _mm512_store_si512(to, rows[i]);
        }
}

static inline void lay_out_values(const Bf16 *values, int64_t stride, int tokens, int padded, int head_dim, Bf16 *to) {
    Bf16 order[DEEP]; /* dimension by dimension, one of each of two tokens */
    for (int i = 0; i < DEEP; i++) order[i] = i / 2 + i % 2 * DEEP;
    const __m512i low = _mm512_loadu_si512(order), high = _mm512_add_epi16(low, _mm512_set1_epi16(SIDE));
    for (int t = 0; t < padded; t += DEEP)
        for (int d = 0; d < head_dim; d += DEEP, to += 2 * TILE)
            for (int i = 0; i < DEEP; i += 2) {
                const __m512i one = dimensions(values + d, stride, t + i, tokens);
                const __m512i two = dimensions(values + d, stride, t + i + 1, tokens);
                _mm512_store_si512(to + i * SIDE, _mm512_permutex2var_epi16(one, low, two));
                _mm512_store_si512(to + TILE + i * SIDE, _mm512_permutex2var_epi16(one, high, two));
            }
}

/* Scores of 16 queries and all keys, each with the bias of its key. */
static inline void score(const Bf16 *queries, int64_t stride, const float *bias, int padded, int head_dim,
                         const AttentionSpace *space) {
    for (int t = 0; t < padded; t += 2 * SIDE) {
        _tile_loadd(0, bias + t, 0); /* the same row sixteen times */
        _tile_loadd(1, bias + t + SIDE, 0);
        for (int d = 0; d < head_dim; d += DEEP) {
            const Bf16 *keys = space->keys + t * head_dim + d * SIDE;
            _tile_loadd(2, queries + d, 2 * stride);
            _tile_loadd(3, keys, 64);
            _tile_loadd(4, keys + SIDE * head_dim, 64);
            _tile_dpbf16ps(0, 2, 3);
            _tile_dpbf16ps(1, 2, 4);
        }
        _tile_stored(0, space->scores + t, 4 * padded);
        _tile_stored(1, space->scores + t + SIDE, 4 * padded);
    }
}

/* exp of scale times scores, less each row's largest; to weight: one over each row's sum. In two passes, so that
   no row waits for the one before. */
static inline void exponentials(float scale, int padded, const AttentionSpace *space, float weight[SIDE]) {
    const __m512 factor = _mm512_set1_ps(scale * 1.44269504f);
    float largest[SIDE];
    for (int i = 0; i < SIDE; i++) {
        const float *scores = space->scores + i * padded;
        __m512 one = _mm512_load_ps(scores), two = _mm512_load_ps(scores + SIDE);
        for (int t = 2 * SIDE; t < padded; t += 2 * SIDE) {
            one = _mm512_max_ps(one, _mm512_load_ps(scores + t));
            two = _mm512_max_ps(two, _mm512_load_ps(scores + t + SIDE));
        }
        largest[i] = _mm512_reduce_max_ps(_mm512_max_ps(one, two)) * scale * 1.44269504f;
    }
    for (int i = 0; i < SIDE; i++) {
        const float *scores = space->scores + i * padded;
        const __m512 less = _mm512_set1_ps(largest[i]);
        __m512 sum = _mm512_setzero_ps(), other = sum;
        for (int t = 0; t < padded; t += 2 * SIDE) {
            const __m512 one = power_of_two(_mm512_fmsub_ps(_mm512_load_ps(scores + t), factor, less));
            const __m512 two = power_of_two(_mm512_fmsub_ps(_mm512_load_ps(scores + t + SIDE), factor, less));
            sum = _mm512_add_ps(sum, one), other = _mm512_add_ps(other, two);
            narrow(space->probabilities + i * padded + t, one, two);
        }
        weight[i] = 1 / _mm512_reduce_add_ps(_mm512_add_ps(sum, other));
    }
}

/* Values summed up for 16 queries, of which rows are wanted. */
static inline void sum_values(int padded, int head_dim, const float weight[SIDE], const AttentionSpace *space,
                              int rows, Bf16 *out, int64_t stride) {
    for (int d = 0; d < head_dim; d += DEEP) {
        _tile_zero(0);
        _tile_zero(1);
        for (int t = 0; t < padded; t += DEEP) {
            const Bf16 *values = space->values + t * head_dim + d * DEEP;
            _tile_loadd(2, space->probabilities + t, 2 * padded);
            _tile_loadd(3, values, 64);
            _tile_loadd(4, values + TILE, 64);
            _tile_dpbf16ps(0, 2, 3);
            _tile_dpbf16ps(1, 2, 4);
        }
        _tile_stored(0, space->sums, 4 * DEEP);
        _tile_stored(1, space->sums + SIDE, 4 * DEEP);
        for (int i = 0; i < rows; i++) {
            const __m512 factor = _mm512_set1_ps(weight[i]);
            const float *sums = space->sums + i * DEEP;
            narrow(out + i * stride + d, _mm512_mul_ps(_mm512_load_ps(sums), factor),
                   _mm512_mul_ps(_mm512_load_ps(sums + SIDE), factor));
        }
    }
}

/* queries, keys and values (tokens, head_dim), tokens apart by stride; what was attended takes the place of the
   queries. bias: (padded,), added to the scores of each key; padded is a multiple of 32. */
static inline __attribute__((always_inline)) void attend(
    Bf16 *queries, const Bf16 *keys, const Bf16 *values, int64_t stride, int tokens, int padded, const int head_dim,
    const float *bias, const AttentionSpace *space) {
    const float scale = 1 / sqrtf((float)head_dim);
    lay_out_keys(keys, stride, tokens, padded, head_dim, space->keys);
    lay_out_values(values, stride, tokens, padded, head_dim, space->values);
    for (int first = 0; first < tokens; first += SIDE) {
        const int rows = tokens - first < SIDE ? tokens - first : SIDE;
        Bf16 *here = queries + first * stride;
        float weight[SIDE];
        if (rows < SIDE) { /* a tile is always read whole */
            memset(space->queries, 0, 2 * SIDE * head_dim);
            for (int i = 0; i < rows; i++) memcpy(space->queries + i * head_dim, here + i * stride, 2 * head_dim);
            score(space->queries, head_dim, bias, padded, head_dim, space);
        } else
            score(here, stride, bias, padded, head_dim, space);
        exponentials(scale, padded, space, weight);
        sum_values(padded, head_dim, weight, space, rows, here, stride);
    }
}
