/* The layers of a BERT encoder over texts of one length, in bfloat16 with sums in float32, by AMX and AVX-512.

   A thread takes some texts through all of a layer, and its states stay in the caches of a core; threads never wait
   for each other. A text's states do not depend on the others', nor on the number of threads, to the last bit. */

#if defined(__linux__) && defined(__AMX_BF16__) && defined(__AVX512BF16__) && defined(__AVX512BW__) && \
    defined(__AVX512DQ__)
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "attention.h"
#include "product.h"

enum { TOKENS = 256 /* to be taken through a layer at once */, WIDEST = 4096 /* hidden */ };

typedef struct {
    Bf16 *states, *wide, *sum; /* (rows, hidden), (rows, intermediate or 3 hidden), (rows, hidden) */
    float *partial;            /* (rows, 32) */
    AttentionSpace attention;
} Workspace;

/* 0 if this processor and system can run `encode`. */
int prepare(void) { return request_tiles(); }

void pack_weights(const Bf16 *from, int32_t outputs, int32_t inputs, Bf16 *to) { pack(from, outputs, inputs, to); }

static void normalise(const Bf16 *from, const Norm *norm, int rows, int hidden, float epsilon, Bf16 *to) {
    float states[WIDEST] __attribute__((aligned(64)));
    for (int row = 0; row < rows; row++, from += hidden, to += hidden) {
        __m512 sum = _mm512_setzero_ps(), squares = sum;
        for (int i = 0; i < hidden; i += SIDE) {
            const __m512 part = widen(from + i);
            _mm512_store_ps(states + i, part);
            sum = _mm512_add_ps(sum, part);
        }
        const __m512 mean = _mm512_set1_ps(_mm512_reduce_add_ps(sum) / hidden);
        for (int i = 0; i < hidden; i += SIDE) {
            const __m512 part = _mm512_sub_ps(_mm512_load_ps(states + i), mean);
            _mm512_store_ps(states + i, part);
            squares = _mm512_fmadd_ps(part, part, squares);
        }
        const __m512 factor = _mm512_set1_ps(1 / sqrtf(_mm512_reduce_add_ps(squares) / hidden + epsilon));
        for (int i = 0; i < hidden; i += DEEP) {
            __m512 parts[2];
            for (int j = 0; j < 2; j++) {
                const int at = i + j * SIDE;
                const __m512 part = _mm512_mul_ps(_mm512_load_ps(states + at), factor);
                parts[j] = _mm512_fmadd_ps(part, _mm512_loadu_ps(norm->weight + at), _mm512_loadu_ps(norm->bias + at));
            }
            narrow(to + i, parts[0], parts[1]);
        }
    }
}

static void attend_all(const Sizes *sizes, int64_t texts, int tokens, int padded, const float *bias,
                       const Workspace *space) {
    const int hidden = sizes->hidden, head_dim = hidden / sizes->num_heads;
    for (int64_t text = 0; text < texts; text++)
        for (int head = 0; head < sizes->num_heads; head++) {
            Bf16 *at = space->wide + text * tokens * 3 * hidden + head * head_dim;
            const float *its = bias + text * padded;
            if (head_dim == DEEP) /* the same twice, the first with all loops over dimensions unrolled */
                attend(at, at + hidden, at + 2 * hidden, 3 * hidden, tokens, padded, DEEP, its, &space->attention);
            else
                attend(at, at + hidden, at + 2 * hidden, 3 * hidden, tokens, padded, head_dim, its, &space->attention);
        }
}

static void run_layer(const Sizes *sizes, const Layer *layer, int64_t texts, int tokens, int padded, const float *bias,
                      const Workspace *space) {
    const int hidden = sizes->hidden, rows = (int)(texts * tokens), all = (rows + BLOCK - 1) / BLOCK * BLOCK;
    Bf16 *states = space->states, *wide = space->wide, *sum = space->sum;
    multiply(&layer->query_key_value, states, hidden, all, NULL, wide, space->partial, NOTHING);
    attend_all(sizes, texts, tokens, padded, bias, space);
    multiply(&layer->output, wide, 3 * hidden, all, states, sum, space->partial, RESIDUAL);
    normalise(sum, &layer->after_attention, rows, hidden, sizes->epsilon, states);
    multiply(&layer->up, states, hidden, all, NULL, wide, space->partial, GELU);
    multiply(&layer->down, wide, sizes->intermediate, all, states, sum, space->partial, RESIDUAL);
    normalise(sum, &layer->after_mlp, rows, hidden, sizes->epsilon, states);
}

/* states: (texts, tokens, hidden), changed in place. bias: (texts, padded), added to the scores of each key; padded is
   tokens, rounded up to a multiple of 32. Returns 0, or 1 where there is no memory. */
int encode(const Sizes *sizes, const Layer *layers, int32_t count, Bf16 *states, int64_t texts, int32_t tokens,
           const float *bias, int32_t threads) {
    const int64_t hidden = sizes->hidden, head_dim = hidden / sizes->num_heads;
    const int64_t widest = sizes->intermediate > 3 * hidden ? sizes->intermediate : 3 * hidden;
    const int64_t at_once = tokens < TOKENS ? TOKENS / tokens : 1;
    const int64_t rows = (at_once * tokens + BLOCK - 1) / BLOCK * BLOCK;
    const int padded = (tokens + DEEP - 1) / DEEP * DEEP;
    const int64_t floats = rows * BLOCK * sizeof(float), bytes = rows * (2 * hidden + widest) * sizeof(Bf16);
    const int64_t size = (floats + bytes + attention_bytes(padded, (int)head_dim) + 4095) / 4096 * 4096;
    char *all = aligned_alloc(4096, size * threads);
    if (!all) return 1;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
    {
        int thread = 0;
#ifdef _OPENMP
        thread = omp_get_thread_num();
#endif
        Workspace space = {.partial = (float *)(all + thread * size)};
        space.states = (Bf16 *)(space.partial + rows * BLOCK);
        space.sum = space.states + rows * hidden;
        space.wide = space.sum + rows * hidden;
        space.attention = attention_space((char *)(space.wide + rows * widest), padded, (int)head_dim);
        configure_tiles();
#ifdef _OPENMP
#pragma omp for schedule(dynamic)
#endif
        for (int64_t text = 0; text < texts; text += at_once) {
            const int64_t some = texts - text < at_once ? texts - text : at_once;
            const int64_t here = some * tokens * hidden * (int64_t)sizeof(Bf16);
            memcpy(space.states, states + text * tokens * hidden, here);
            for (int32_t i = 0; i < count; i++)
                run_layer(sizes, layers + i, some, tokens, padded, bias + text * padded, &space);
            memcpy(states + text * tokens * hidden, space.states, here);
        }
        _tile_release();
    }
    free(all);
    return 0;
}
#else
int prepare(void) { return 1; }
#endif
