/* A model, its cache, and a call, as `generator/kernels/library.py` hands them over. */

#pragma once
#include "matrices.h"

typedef struct {
    Matrix query, key, value, output, gate, up, down;
    const float *before_attention, *before_mlp;
} Layer;

typedef struct {
    int32_t layers, hidden, heads, groups, size, wide, kept_as; /* kept_as: F32 or BF16 */
    float epsilon, scale;
    const Layer *layer;
    const float *norm;
    Matrix head;
} Model;

typedef struct {
    void *keys, *values; /* (rows, groups, room, size), the last two without gaps */
    int64_t row, group;  /* numbers from one row to the next, and from one group to the next */
} Cache;

typedef struct {
    int32_t rows, threads;
    int64_t length;        /* tokens in the cache */
    const int64_t *starts; /* of each row, the first that is no padding */
    const Cache *cache;    /* by layer */
    const float *cosines, *sines; /* (layers or 1, rows, groups, size / 2) */
    int64_t wave;                 /* numbers from one layer's to the next's */
    float *states;                /* (rows, hidden): embeddings; used up */
    float *scores;                /* (rows, vocabulary) */
} Call;

/* Where the buffers of a pass lie. */
typedef struct {
    float *query, *key, *value, *wide, *other; /* shared */
    float *parts; /* shared: by thread, row and head: size sums, their weight, the highest score */
    float *own;   /* of this thread: normalised states, turned queries, attended values */
    float *turned, *attended, *chances;
} Room;
