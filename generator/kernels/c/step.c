/* One token further in a causal language model of the Llama kind, for a few rows of a batch.

   Computed in float32 whatever the dtype of the weights; keys and values are stored in the
   dtype of the cache. Threads share a pass: each takes some rows of every matrix, and some of the tokens. */

#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "attention.h"

static void gated(const Layer *layer, int rows, float *gates, const float *up, int thread, int threads) {
    int64_t first, end;
    share((layer->up.rows + LANES - 1) / LANES, thread, threads, &first, &end);
    for (int row = 0; row < rows; row++)
        for (int64_t at = first * LANES; at < end * LANES && at < layer->up.rows; at += LANES) {
            const int64_t here = row * (int64_t)layer->up.rows + at;
            const int last = layer->up.rows - at < LANES ? (int)(layer->up.rows - at) : LANES;
            Floats gate = {0};
            for (int i = 0; i < last; i++) gate[i] = gates[here + i];
            gate = gate / (1.0f + exponential(-gate));
            for (int i = 0; i < last; i++) gates[here + i] = gate[i] * up[here + i];
        }
}

#ifdef _OPENMP
#define BARRIER _Pragma("omp barrier")
#else
#define BARRIER
#endif

static void pass(const Model *model, const Call *call, const Workspace *workspace, int thread) {
    const int rows = call->rows, threads = call->threads, hidden = model->hidden;
    for (int number = 0; number < model->layers; number++) {
        const Layer *layer = model->layer + number;
        const Cache *cache = call->cache + number;
        const float *cos = call->cos + number * call->layer_stride;
        const float *sin = call->sin + number * call->layer_stride;
        normalise(call->hidden_states, layer->before_attention, rows, hidden, model->epsilon, workspace->own);
        multiply(&layer->query, workspace->own, rows, workspace->query, 0, thread, threads);
        multiply(&layer->key, workspace->own, rows, workspace->key, 0, thread, threads);
        multiply(&layer->value, workspace->own, rows, workspace->value, 0, thread, threads);
        BARRIER
        if (thread == threads - 1) append(model, call, cache, cos, sin, workspace); /* in its share */
        attend_share(model, call, cache, cos, sin, workspace, thread);
        BARRIER
        merge(model, call, workspace);
        multiply(&layer->output, workspace->attended, rows, call->hidden_states, 1, thread, threads);
        BARRIER
        normalise(call->hidden_states, layer->before_mlp, rows, hidden, model->epsilon, workspace->own);
        multiply(&layer->gate, workspace->own, rows, workspace->intermediate, 0, thread, threads);
        multiply(&layer->up, workspace->own, rows, workspace->other, 0, thread, threads);
        gated(layer, rows, workspace->intermediate, workspace->other, thread, threads);
        BARRIER
        multiply(&layer->down, workspace->intermediate, rows, call->hidden_states, 1, thread, threads);
        BARRIER
    }
    normalise(call->hidden_states, model->norm, rows, hidden, model->epsilon, workspace->own);
    multiply(&model->head, workspace->own, rows, call->logits, 0, thread, threads);
}

/* Returns 0, or 1 where there is no memory. */
int step(const Model *model, Call *call) {
#ifndef _OPENMP
    call->threads = 1;
#endif
    const int64_t rows = call->rows, threads = call->threads;
    const int64_t queries = (int64_t)model->num_heads * model->head_dim;
    const int64_t keys = (int64_t)model->num_kv_heads * model->head_dim;
    const int64_t probabilities = MAX_VECTORS * (call->length + 1 + 2 * LANES);
    const int64_t shared = rows * (queries + 2 * keys + 2 * model->intermediate);
    const int64_t parts = threads * rows * model->num_heads * (model->head_dim + 2);
    const int64_t own = rows * (model->hidden + queries) + MAX_VECTORS * model->head_dim + probabilities;
    float *all = malloc(sizeof(float) * (shared + parts + threads * own));
    if (!all) return 1;
#ifdef _OPENMP
#pragma omp parallel num_threads(call->threads)
#endif
    {
        int thread = 0;
#ifdef _OPENMP
        thread = omp_get_thread_num();
#pragma omp single
        call->threads = omp_get_num_threads(); /* fewer where the system grants no more */
#endif
        Workspace workspace = {.query = all};
        workspace.key = workspace.query + rows * queries;
        workspace.value = workspace.key + rows * keys;
        workspace.intermediate = workspace.value + rows * keys;
        workspace.other = workspace.intermediate + rows * model->intermediate;
        workspace.parts = all + shared;
        workspace.own = all + shared + parts + thread * own;
        workspace.attended = workspace.own + rows * model->hidden;
        workspace.rotated = workspace.attended + rows * queries;
        workspace.probabilities = workspace.rotated + MAX_VECTORS * model->head_dim;
        pass(model, call, &workspace, thread);
    }
    free(all);
    return 0;
}
