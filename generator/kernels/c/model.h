/* A model, its cache, and a call, as `generator/kernels/library.py` hands them over. */

#pragma once
#include "matrices.h"

typedef struct {
    Matrix query, key, value, output, gate, up, down;
    const float *before_attention, *before_mlp;
} Layer;

typedef struct {
    int32_t layers, hidden, num_heads, num_kv_heads, head_dim, intermediate;
    int32_t cache_dtype; /* F32 or BF16 */
    float epsilon, scale;
    const Layer *layer;
    const float *norm;
    Matrix head;
} Model;

typedef struct {
    void *keys, *values; /* (rows, num_kv_heads, capacity, head_dim), the last two contiguous */
    int64_t row_stride, head_stride; /* elements between rows, and between heads */
} Cache;

typedef struct {
    int32_t rows, threads;
    int64_t length;        /* tokens in the cache */
    const int64_t *starts; /* of each row, the first that is no padding */
    const Cache *cache;    /* by layer */
    const float *cos, *sin; /* (layers or 1, rows, num_kv_heads, head_dim / 2) */
    int64_t layer_stride;   /* elements between layers; 0 where all share one */
    float *hidden_states;   /* (rows, hidden): embeddings; used up */
    float *logits;          /* (rows, vocabulary) */
} Call;

/* Buffers of one pass. */
typedef struct {
    float *query, *key, *value, *intermediate, *other; /* shared */
    float *parts; /* shared; by thread, row and head: head_dim sums, their weight, the largest logit */
    float *own;   /* of this thread: normalised hidden states, rotated queries, attended values */
    float *rotated, *attended, *probabilities;
} Workspace;
