/* Rotary embedding of a prompt's queries or keys: each head by the angles of its token and kv head. */

#pragma once
#include "vectors.h"

/* At each token, kv head g of a row rotates by angles index[row][g] of that token. */
typedef struct {
    const float *cos, *sin; /* (rows or 1, tokens, count, pairs) */
    const int64_t *index;   /* (rows or 1, num_kv_heads) */
    int32_t count, pairs;
    int32_t angles_by_row, index_by_row; /* 1 where each row has its own, else 0 */
} Rotation;

typedef struct {
    void *data; /* (rows, tokens, num_kv_heads, heads_per_group, head_dim) */
    int64_t rows, tokens;
    int32_t dtype, num_kv_heads, heads_per_group, head_dim;
} States;

/* Where the angles of a token begin, and the index of its row. */
static inline int64_t angles_of(
    const Rotation *rotation, const States *states, int64_t token, const int64_t **index) {
    const int64_t row = token / states->tokens;
    const int64_t at = rotation->angles_by_row ? token : token - row * states->tokens;
    *index = rotation->index + (rotation->index_by_row ? row * states->num_kv_heads : 0);
    return at * rotation->count * rotation->pairs;
}

static inline void store(void *to, int64_t at, const int dtype, Floats numbers) {
    if (dtype == BF16)
        store_bf16((uint16_t *)to + at, numbers);
    else
        *(Floats *)((float *)to + at) = numbers;
}

static inline void store_one(void *to, int64_t at, const int dtype, float number) {
    if (dtype == BF16)
        ((uint16_t *)to)[at] = to_bf16(number);
    else
        ((float *)to)[at] = number;
}

/* The two halves of a head, rotated; the output may be the input. */
static inline __attribute__((always_inline)) void rotate_pairs(
    const void *from, int64_t at, const int dtype, const float *cos, const float *sin, int pairs,
    void *to, int64_t there, const int as) {
    int i = 0;
    for (; i + LANES <= pairs; i += LANES) {
        const Floats one = load(from, at + i, dtype), other = load(from, at + pairs + i, dtype);
        const Floats c = *(const Floats *)(cos + i), s = *(const Floats *)(sin + i);
        store(to, there + i, as, one * c - other * s);
        store(to, there + pairs + i, as, other * c + one * s);
    }
    for (; i < pairs; i++) {
        const float one = load_one(from, at + i, dtype), other = load_one(from, at + pairs + i, dtype);
        store_one(to, there + i, as, one * cos[i] - other * sin[i]);
        store_one(to, there + pairs + i, as, other * cos[i] + one * sin[i]);
    }
}

/* In place. */
void rotate_tokens(const States *states, const Rotation *rotation, int32_t threads) {
    const int pairs = rotation->pairs, head_dim = states->head_dim;
    const int64_t heads = (int64_t)states->num_kv_heads * states->heads_per_group;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
    for (int64_t token = 0; token < states->rows * states->tokens; token++) {
        const int64_t *index, first = angles_of(rotation, states, token, &index);
        int64_t at = token * heads * head_dim;
        for (int kv_head = 0; kv_head < states->num_kv_heads; kv_head++) {
            const float *cos = rotation->cos + first + index[kv_head] * pairs;
            const float *sin = rotation->sin + first + index[kv_head] * pairs;
            for (int i = 0; i < states->heads_per_group; i++, at += head_dim)
                if (states->dtype == BF16)
                    rotate_pairs(states->data, at, BF16, cos, sin, pairs, states->data, at, BF16);
                else
                    rotate_pairs(states->data, at, F32, cos, sin, pairs, states->data, at, F32);
        }
    }
}

static inline float product(const float *one, const float *other, int head_dim) {
    Floats sums = {0};
    float rest = 0;
    int i = 0;
    for (; i + LANES <= head_dim; i += LANES) sums += *(const Floats *)(one + i) * *(const Floats *)(other + i);
    for (; i < head_dim; i++) rest += one[i] * other[i];
    return total(sums) + rest;
}

/* One rotated query of each head times every key of its row, rotated here and not stored: queries
   (rows, num_kv_heads, heads_per_group, head_dim), keys with one head a group, products (rows,
   num_kv_heads, heads_per_group, tokens). */
void query_key_products(const float *queries, int32_t heads_per_group, const States *keys,
                        const Rotation *rotation, float *products, int32_t threads) {
    const int head_dim = keys->head_dim, pairs = rotation->pairs;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
    for (int64_t token = 0; token < keys->rows * keys->tokens; token++) {
        const int64_t row = token / keys->tokens, offset = token - row * keys->tokens;
        const int64_t *index, first = angles_of(rotation, keys, token, &index);
        float key[MAX_HEAD_DIM];
        for (int kv_head = 0; kv_head < keys->num_kv_heads; kv_head++) {
            const int64_t at = (token * keys->num_kv_heads + kv_head) * head_dim;
            const int64_t head = (row * keys->num_kv_heads + kv_head) * heads_per_group;
            const float *cos = rotation->cos + first + index[kv_head] * pairs;
            const float *sin = rotation->sin + first + index[kv_head] * pairs;
            if (keys->dtype == BF16)
                rotate_pairs(keys->data, at, BF16, cos, sin, pairs, key, 0, F32);
            else
                rotate_pairs(keys->data, at, F32, cos, sin, pairs, key, 0, F32);
            for (int i = 2 * pairs; i < head_dim; i++) key[i] = load_one(keys->data, at + i, keys->dtype);
            for (int i = 0; i < heads_per_group; i++)
                products[(head + i) * keys->tokens + offset] =
                    product(queries + (head + i) * head_dim, key, head_dim);
        }
    }
}
