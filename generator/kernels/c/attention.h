/* Attention of one token over a cache: threads share the tokens, then merge their sums. */

#pragma once
#include "model.h"

static void rotate_head(const float *in, const float *cos, const float *sin, int half, float *out) {
    for (int i = 0; i < half; i++) {
        const float one = in[i], two = in[i + half];
        out[i] = one * cos[i] - two * sin[i];
        out[i + half] = two * cos[i] + one * sin[i];
    }
}

static void append(const Model *model, const Call *call, const Cache *cache, const float *cos,
                   const float *sin, const Workspace *workspace) {
    const int head_dim = model->head_dim, half = head_dim / 2;
    float rotated[MAX_HEAD_DIM];
    for (int row = 0; row < call->rows; row++)
        for (int kv_head = 0; kv_head < model->num_kv_heads; kv_head++) {
            const int at = row * model->num_kv_heads + kv_head;
            const float *value = workspace->value + (int64_t)at * head_dim;
            const int64_t to = row * cache->row_stride + kv_head * cache->head_stride + call->length * head_dim;
            rotate_head(workspace->key + (int64_t)at * head_dim, cos + (int64_t)at * half,
                        sin + (int64_t)at * half, half, rotated);
            for (int i = 0; i < head_dim; i++) {
                if (model->cache_dtype == BF16) {
                    ((uint16_t *)cache->keys)[to + i] = to_bf16(rotated[i]);
                    ((uint16_t *)cache->values)[to + i] = to_bf16(value[i]);
                } else {
                    ((float *)cache->keys)[to + i] = rotated[i];
                    ((float *)cache->values)[to + i] = value[i];
                }
            }
        }
}

/* n queries (n, head_dim) against keys and values [first, end) of one row and head. To out, for each
   query: head_dim sums, their weight, and the largest logit. */
static inline __attribute__((always_inline)) void attend(
    const void *keys, const void *values, int64_t at, int64_t first, int64_t end, int head_dim,
    const float *query, float scale, const int n, const int dtype, float *probabilities, float *out) {
    const int64_t count = end - first, padded = (count + LANES - 1) / LANES * LANES;
    for (int i = 0; i < n; i++) out[i * (head_dim + 2) + head_dim + 1] = -1e30f;
    for (int64_t t = 0; t < count; t++) {
        const int64_t key = at + (first + t) * head_dim;
        Floats sums[MAX_VECTORS];
        for (int i = 0; i < n; i++) sums[i] = (Floats){0};
        for (int d = 0; d < head_dim; d += LANES) {
            Floats part = load(keys, key + d, dtype);
            for (int i = 0; i < n; i++) sums[i] += part * *(const Floats *)(query + i * head_dim + d);
        }
        for (int i = 0; i < n; i++) {
            const float logit = total(sums[i]) * scale;
            probabilities[i * padded + t] = logit;
            float *largest = out + i * (head_dim + 2) + head_dim + 1;
            if (logit > *largest) *largest = logit;
        }
    }
    for (int i = 0; i < n; i++) {
        const float largest = out[i * (head_dim + 2) + head_dim + 1];
        Floats sum = {0};
        for (int64_t t = count; t < padded; t++) probabilities[i * padded + t] = -1e30f;
        for (int64_t t = 0; t < padded; t += LANES) {
            Floats *part = (Floats *)(probabilities + i * padded + t);
            *part = exponential(*part - largest);
            sum += *part;
        }
        out[i * (head_dim + 2) + head_dim] = total(sum);
    }
    for (int d = 0; d < head_dim; d += LANES) {
        Floats sums[MAX_VECTORS];
        for (int i = 0; i < n; i++) sums[i] = (Floats){0};
        for (int64_t t = 0; t < count; t++) {
            Floats value = load(values, at + (first + t) * head_dim + d, dtype);
            for (int i = 0; i < n; i++) sums[i] += value * probabilities[i * padded + t];
        }
        for (int i = 0; i < n; i++) *(Floats *)(out + i * (head_dim + 2) + d) = sums[i];
    }
}

#define ATTEND(n)                                                                                  \
    (model->cache_dtype == BF16                                                                    \
         ? attend(cache->keys, cache->values, at, first, end, head_dim, query, model->scale, n,    \
                  BF16, workspace->probabilities, out)                                             \
         : attend(cache->keys, cache->values, at, first, end, head_dim, query, model->scale, n,    \
                  F32, workspace->probabilities, out))

/* This thread's share of the tokens, for every row and head. */
static void attend_share(const Model *model, const Call *call, const Cache *cache, const float *cos,
                         const float *sin, const Workspace *workspace, int thread) {
    const int head_dim = model->head_dim, half = head_dim / 2;
    const int queries_per_head = model->num_heads / model->num_kv_heads;
    for (int row = 0; row < call->rows; row++) {
        const int64_t start = call->starts[row], count = call->length + 1 - start;
        const int64_t first = start + count * thread / call->threads;
        const int64_t end = start + count * (thread + 1) / call->threads;
        for (int kv_head = 0; kv_head < model->num_kv_heads; kv_head++) {
            const int64_t angle = ((int64_t)row * model->num_kv_heads + kv_head) * half;
            const int64_t at = row * cache->row_stride + kv_head * cache->head_stride;
            for (int from = 0; from < queries_per_head; from += MAX_VECTORS) {
                const int rest = queries_per_head - from, n = rest < MAX_VECTORS ? rest : MAX_VECTORS;
                const int64_t head = (int64_t)row * model->num_heads + kv_head * queries_per_head + from;
                float *query = workspace->rotated;
                const int64_t slot = (int64_t)thread * call->rows * model->num_heads + head;
                float *out = workspace->parts + slot * (head_dim + 2);
                for (int i = 0; i < n; i++)
                    rotate_head(workspace->query + (head + i) * head_dim, cos + angle, sin + angle,
                                half, query + i * head_dim);
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

/* The sums of all threads as one: (rows, num_heads * head_dim). */
static void merge(const Model *model, const Call *call, const Workspace *workspace) {
    const int head_dim = model->head_dim;
    const int64_t heads = (int64_t)call->rows * model->num_heads;
    for (int64_t head = 0; head < heads; head++) {
        float largest = -1e30f, weight = 0, *out = workspace->attended + head * head_dim;
        memset(out, 0, sizeof(float) * head_dim);
        for (int t = 0; t < call->threads; t++)
            largest = fmaxf(largest, workspace->parts[(t * heads + head) * (head_dim + 2) + head_dim + 1]);
        for (int t = 0; t < call->threads; t++) {
            const float *part = workspace->parts + (t * heads + head) * (head_dim + 2);
            const float factor = expf(part[head_dim + 1] - largest);
            weight += part[head_dim] * factor;
            for (int i = 0; i < head_dim; i++) out[i] += part[i] * factor;
        }
        for (int i = 0; i < head_dim; i++) out[i] /= weight;
    }
}
