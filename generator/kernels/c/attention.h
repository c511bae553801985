/* Queries over the keys and values of a cache: threads share the tokens, then merge what they gathered. */

#pragma once
#include "model.h"

static void turn(const float *in, const float *cosine, const float *sine, int half, float *out) {
    for (int i = 0; i < half; i++) {
        const float one = in[i], two = in[i + half];
        out[i] = one * cosine[i] - two * sine[i];
        out[i + half] = two * cosine[i] + one * sine[i];
    }
}

static void keep(const Model *model, const Call *call, const Cache *cache, const float *cosines,
                 const float *sines, const Room *room) {
    const int size = model->size, half = size / 2;
    float turned[LARGEST];
    for (int row = 0; row < call->rows; row++)
        for (int group = 0; group < model->groups; group++) {
            const int at = row * model->groups + group;
            const float *value = room->value + (int64_t)at * size;
            const int64_t to = row * cache->row + group * cache->group + call->length * size;
            turn(room->key + (int64_t)at * size, cosines + (int64_t)at * half, sines + (int64_t)at * half, half, turned);
            for (int i = 0; i < size; i++) {
                if (model->kept_as == BF16) {
                    ((uint16_t *)cache->keys)[to + i] = as_half(turned[i]);
                    ((uint16_t *)cache->values)[to + i] = as_half(value[i]);
                } else {
                    ((float *)cache->keys)[to + i] = turned[i];
                    ((float *)cache->values)[to + i] = value[i];
                }
            }
        }
}

/* n queries (n, size) against keys and values [first, end) of one row and group; what they gather
   goes to out: for each, size sums, their weight, and the highest score. */
static inline __attribute__((always_inline)) void attend(
    const void *keys, const void *values, int64_t at, int64_t first, int64_t end, int size,
    const float *query, float scale, const int n, const int kind, float *chances, float *out) {
    const int64_t count = end - first, room = (count + LANES - 1) / LANES * LANES;
    for (int i = 0; i < n; i++) out[i * (size + 2) + size + 1] = -1e30f;
    for (int64_t t = 0; t < count; t++) {
        const int64_t key = at + (first + t) * size;
        Floats sums[MOST];
        for (int i = 0; i < n; i++) sums[i] = (Floats){0};
        for (int d = 0; d < size; d += LANES) {
            Floats some = loaded(keys, key + d, kind);
            for (int i = 0; i < n; i++) sums[i] += some * *(const Floats *)(query + i * size + d);
        }
        for (int i = 0; i < n; i++) {
            const float score = total(sums[i]) * scale;
            chances[i * room + t] = score;
            float *most = out + i * (size + 2) + size + 1;
            if (score > *most) *most = score;
        }
    }
    for (int i = 0; i < n; i++) {
        const float most = out[i * (size + 2) + size + 1];
        Floats sum = {0};
        for (int64_t t = count; t < room; t++) chances[i * room + t] = -1e30f;
        for (int64_t t = 0; t < room; t += LANES) {
            Floats *some = (Floats *)(chances + i * room + t);
            *some = exponential(*some - most);
            sum += *some;
        }
        out[i * (size + 2) + size] = total(sum);
    }
    for (int d = 0; d < size; d += LANES) {
        Floats sums[MOST];
        for (int i = 0; i < n; i++) sums[i] = (Floats){0};
        for (int64_t t = 0; t < count; t++) {
            Floats value = loaded(values, at + (first + t) * size + d, kind);
            for (int i = 0; i < n; i++) sums[i] += value * chances[i * room + t];
        }
        for (int i = 0; i < n; i++) *(Floats *)(out + i * (size + 2) + d) = sums[i];
    }
}

#define ATTEND(n)                                                                                  \
    (model->kept_as == BF16 ? attend(cache->keys, cache->values, at, first, end, model->size,      \
                                     query, model->scale, n, BF16, room->chances, out)             \
                            : attend(cache->keys, cache->values, at, first, end, model->size,      \
                                     query, model->scale, n, F32, room->chances, out))

/* This thread's share of the tokens, for every row and head. */
static void gather(const Model *model, const Call *call, const Cache *cache, const float *cosines,
                   const float *sines, const Room *room, int thread) {
    const int size = model->size, half = size / 2, shared = model->heads / model->groups;
    for (int row = 0; row < call->rows; row++) {
        const int64_t start = call->starts[row], count = call->length + 1 - start;
        const int64_t first = start + count * thread / call->threads;
        const int64_t end = start + count * (thread + 1) / call->threads;
        for (int group = 0; group < model->groups; group++) {
            const int64_t wave = ((int64_t)row * model->groups + group) * half;
            const int64_t at = row * cache->row + group * cache->group;
            for (int from = 0; from < shared; from += MOST) {
                const int n = shared - from < MOST ? shared - from : MOST;
                const int64_t head = (int64_t)row * model->heads + group * shared + from;
                float *query = room->turned;
                float *out = room->parts + ((int64_t)thread * call->rows * model->heads + head) * (size + 2);
                for (int i = 0; i < n; i++)
                    turn(room->query + (head + i) * size, cosines + wave, sines + wave, half, query + i * size);
                switch (n) {
                    case 1: ATTEND(1); break;
                    case 2: ATTEND(2); break;
                    case 3: ATTEND(3); break;
                    default: ATTEND(4);
                }
            }
        }
    }
}

/* What all threads gathered, as one: (rows, heads * size). */
static void merge(const Model *model, const Call *call, const Room *room) {
    const int size = model->size;
    const int64_t heads = (int64_t)call->rows * model->heads;
    for (int64_t head = 0; head < heads; head++) {
        float most = -1e30f, weight = 0, *out = room->attended + head * size;
        memset(out, 0, sizeof(float) * size);
        for (int t = 0; t < call->threads; t++)
            most = fmaxf(most, room->parts[(t * heads + head) * (size + 2) + size + 1]);
        for (int t = 0; t < call->threads; t++) {
            const float *some = room->parts + (t * heads + head) * (size + 2);
            const float factor = expf(some[size + 1] - most);
            weight += some[size] * factor;
            for (int i = 0; i < size; i++) out[i] += some[i] * factor;
        }
        for (int i = 0; i < size; i++) out[i] /= weight;
    }
}
