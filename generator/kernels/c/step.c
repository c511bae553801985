/* One token further in a causal language model of the Llama kind, for a few rows of a batch.

   Computed in float32 whatever the weights are kept in; keys and values are kept as the cache keeps
   them. Threads share a pass: each takes some rows of every matrix, and some of the tokens. */

#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "attention.h"
#include "levels.h"
#include "turns.h"

static void gated(const Layer *layer, int rows, float *wide, const float *other, int thread, int threads) {
    int64_t first, end;
    part((layer->up.rows + LANES - 1) / LANES, thread, threads, &first, &end);
    for (int row = 0; row < rows; row++)
        for (int64_t at = first * LANES; at < end * LANES && at < layer->up.rows; at += LANES) {
            const int64_t here = row * (int64_t)layer->up.rows + at;
            const int last = layer->up.rows - at < LANES ? (int)(layer->up.rows - at) : LANES;
            Floats gate = {0};
            for (int i = 0; i < last; i++) gate[i] = wide[here + i];
            gate = gate / (1.0f + exponential(-gate));
            for (int i = 0; i < last; i++) wide[here + i] = gate[i] * other[here + i];
        }
}

#ifdef _OPENMP
#define EVERYBODY _Pragma("omp barrier")
#else
#define EVERYBODY
#endif

static void pass(const Model *model, const Call *call, const Room *room, int thread) {
    const int rows = call->rows, threads = call->threads, hidden = model->hidden;
    for (int number = 0; number < model->layers; number++) {
        const Layer *layer = model->layer + number;
        const Cache *cache = call->cache + number;
        const float *cosines = call->cosines + number * call->wave, *sines = call->sines + number * call->wave;
        normalise(call->states, layer->before_attention, rows, hidden, model->epsilon, room->own);
        multiply(&layer->query, room->own, rows, room->query, 0, thread, threads);
        multiply(&layer->key, room->own, rows, room->key, 0, thread, threads);
        multiply(&layer->value, room->own, rows, room->value, 0, thread, threads);
        EVERYBODY
        if (thread == threads - 1) keep(model, call, cache, cosines, sines, room); /* its share has it */
        gather(model, call, cache, cosines, sines, room, thread);
        EVERYBODY
        merge(model, call, room);
        multiply(&layer->output, room->attended, rows, call->states, 1, thread, threads);
        EVERYBODY
        normalise(call->states, layer->before_mlp, rows, hidden, model->epsilon, room->own);
        multiply(&layer->gate, room->own, rows, room->wide, 0, thread, threads);
        multiply(&layer->up, room->own, rows, room->other, 0, thread, threads);
        gated(layer, rows, room->wide, room->other, thread, threads);
        EVERYBODY
        multiply(&layer->down, room->wide, rows, call->states, 1, thread, threads);
        EVERYBODY
    }
    normalise(call->states, model->norm, rows, hidden, model->epsilon, room->own);
    multiply(&model->head, room->own, rows, call->scores, 0, thread, threads);
}

/* Returns 0, or 1 where there is no memory. */
int step(const Model *model, Call *call) {
#ifndef _OPENMP
    call->threads = 1;
#endif
    const int64_t rows = call->rows, threads = call->threads, heads = (int64_t)model->heads * model->size;
    const int64_t groups = (int64_t)model->groups * model->size, chance = MOST * (call->length + 1 + 2 * LANES);
    const int64_t shared = rows * (heads + 2 * groups + 2 * model->wide);
    const int64_t parts = threads * rows * model->heads * (model->size + 2);
    const int64_t own = rows * (model->hidden + heads) + MOST * model->size + chance;
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
        Room room = {.query = all};
        room.key = room.query + rows * heads;
        room.value = room.key + rows * groups;
        room.wide = room.value + rows * groups;
        room.other = room.wide + rows * model->wide;
        room.parts = all + shared;
        room.own = all + shared + parts + thread * own;
        room.attended = room.own + rows * model->hidden;
        room.turned = room.attended + rows * heads;
        room.chances = room.turned + MOST * model->size;
        pass(model, call, &room, thread);
    }
    free(all);
    return 0;
}
