/* Queries or keys of a prompt's tokens: every pair of numbers of a head turned by the angle of its
   token and group. */

#pragma once
#include "vectors.h"

/* The group g of a row turns at token i of the row by wave places[row][g] of that token. */
typedef struct {
    const float *cosines, *sines; /* (rows or 1, tokens, waves, pairs) */
    const int64_t *places;        /* (rows or 1, groups) */
    int32_t waves, pairs;
    int32_t many_waves, many_places; /* 1 where each row has its own, else 0 */
} Turns;

typedef struct {
    void *numbers; /* (rows, tokens, groups, each, size) */
    int64_t rows, tokens;
    int32_t kind, groups, each, size;
} States;

/* Where the waves of a token begin, and the places of its row. */
static inline int64_t waves_of(const Turns *turns, const States *states, int64_t token, const int64_t **places) {
    const int64_t row = token / states->tokens, at = turns->many_waves ? token : token - row * states->tokens;
    *places = turns->places + (turns->many_places ? row * states->groups : 0);
    return at * turns->waves * turns->pairs;
}

static inline void put(void *to, int64_t at, const int kind, Floats numbers) {
    if (kind == BF16)
        keep_halves((uint16_t *)to + at, numbers);
    else
        *(Floats *)((float *)to + at) = numbers;
}

static inline void put_one(void *to, int64_t at, const int kind, float number) {
    if (kind == BF16)
        ((uint16_t *)to)[at] = as_half(number);
    else
        ((float *)to)[at] = number;
}

/* Two halves of a head from one place to another, which may be the same. */
static inline __attribute__((always_inline)) void turned(
    const void *from, int64_t at, const int kind, const float *cosine, const float *sine, int pairs,
    void *to, int64_t there, const int as) {
    int i = 0;
    for (; i + LANES <= pairs; i += LANES) {
        const Floats one = loaded(from, at + i, kind), other = loaded(from, at + pairs + i, kind);
        const Floats cos = *(const Floats *)(cosine + i), sin = *(const Floats *)(sine + i);
        put(to, there + i, as, one * cos - other * sin);
        put(to, there + pairs + i, as, other * cos + one * sin);
    }
    for (; i < pairs; i++) {
        const float one = number(from, at + i, kind), other = number(from, at + pairs + i, kind);
        put_one(to, there + i, as, one * cosine[i] - other * sine[i]);
        put_one(to, there + pairs + i, as, other * cosine[i] + one * sine[i]);
    }
}

/* Turned where they lie. */
void turn_tokens(const States *states, const Turns *turns, int32_t threads) {
    const int pairs = turns->pairs, size = states->size;
    const int64_t heads = (int64_t)states->groups * states->each;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
    for (int64_t token = 0; token < states->rows * states->tokens; token++) {
        const int64_t *places, first = waves_of(turns, states, token, &places);
        int64_t at = token * heads * size;
        for (int group = 0; group < states->groups; group++) {
            const float *cosine = turns->cosines + first + places[group] * pairs;
            const float *sine = turns->sines + first + places[group] * pairs;
            for (int i = 0; i < states->each; i++, at += size)
                if (states->kind == BF16)
                    turned(states->numbers, at, BF16, cosine, sine, pairs, states->numbers, at, BF16);
                else
                    turned(states->numbers, at, F32, cosine, sine, pairs, states->numbers, at, F32);
        }
    }
}

static inline float product(const float *one, const float *other, int size) {
    Floats sums = {0};
    float rest = 0;
    int i = 0;
    for (; i + LANES <= size; i += LANES) sums += *(const Floats *)(one + i) * *(const Floats *)(other + i);
    for (; i < size; i++) rest += one[i] * other[i];
    return total(sums) + rest;
}

/* One query of each head, turned already, against every key of its row, turned here and not kept:
   queries (rows, groups, shared, size), keys with one head a group, scores (rows, groups, shared, tokens). */
void query_keys(const float *queries, int32_t shared, const States *keys, const Turns *turns, float *scores,
                int32_t threads) {
    const int size = keys->size, pairs = turns->pairs;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
    for (int64_t token = 0; token < keys->rows * keys->tokens; token++) {
        const int64_t row = token / keys->tokens, place = token - row * keys->tokens;
        const int64_t *places, first = waves_of(turns, keys, token, &places);
        float key[LARGEST];
        for (int group = 0; group < keys->groups; group++) {
            const int64_t at = (token * keys->groups + group) * size, head = (row * keys->groups + group) * shared;
            const float *cosine = turns->cosines + first + places[group] * pairs;
            const float *sine = turns->sines + first + places[group] * pairs;
            if (keys->kind == BF16)
                turned(keys->numbers, at, BF16, cosine, sine, pairs, key, 0, F32);
            else
                turned(keys->numbers, at, F32, cosine, sine, pairs, key, 0, F32);
            for (int i = 2 * pairs; i < size; i++) key[i] = number(keys->numbers, at + i, keys->kind);
            for (int i = 0; i < shared; i++)
                scores[(head + i) * keys->tokens + place] = product(queries + (head + i) * size, key, size);
        }
    }
}
