/* States times the weights of a linear layer, and what follows it while the sums are in float32. */

#pragma once
#include "bert.h"
#include "tiles.h"

enum { BLOCK = 32 /* rows and columns summed up in four tiles */, DEPTH = 384 /* of weights that fit L1 */ };
enum Then { NOTHING, GELU, RESIDUAL };

/* Weights (outputs, inputs) as tiles read them: blocks of 32 outputs; in each, by 32 inputs, two tiles
   of 16 outputs, whose rows are pairs of inputs. */
static void pack(const Bf16 *from, int outputs, int inputs, Bf16 *to) {
    for (int n = 0; n < outputs; n += BLOCK)
        for (int k = 0; k < inputs; k += DEEP)
            for (int half = 0; half < BLOCK; half += SIDE) {
                __m512i rows[SIDE];
                for (int i = 0; i < SIDE; i++)
                    rows[i] = _mm512_loadu_si512(from + (int64_t)(n + half + i) * inputs + k);
                transpose(rows);
                for (int i = 0; i < SIDE; i++, to += DEEP) _mm512_storeu_si512(to, rows[i]);
            }
}

/* Sums (32, 32) that are complete but for what follows the product. */
typedef struct {
    const float *sums, *bias;
    const Bf16 *residual;
    Bf16 *out;
    int64_t stride; /* of residual and out */
} Block;

static inline __attribute__((always_inline)) void finish(const Block *block, int first, int end, const int then) {
    const __m512 low = _mm512_loadu_ps(block->bias), high = _mm512_loadu_ps(block->bias + SIDE);
    for (int i = first; i < end; i++) {
        __m512 one = _mm512_add_ps(_mm512_load_ps(block->sums + i * BLOCK), low);
        __m512 two = _mm512_add_ps(_mm512_load_ps(block->sums + i * BLOCK + SIDE), high);
        if (then == GELU) one = gelu(one), two = gelu(two);
        if (then == RESIDUAL) {
            one = _mm512_add_ps(one, widen(block->residual + i * block->stride));
            two = _mm512_add_ps(two, widen(block->residual + i * block->stride + SIDE));
        }
        narrow(block->out + i * block->stride, one, two);
    }
}

static inline void clear_sums(void) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
}

static inline void load_sums(const float *from) {
    _tile_loadd(0, from, 4 * BLOCK);
    _tile_loadd(1, from + SIDE, 4 * BLOCK);
    _tile_loadd(2, from + SIDE * BLOCK, 4 * BLOCK);
    _tile_loadd(3, from + SIDE * BLOCK + SIDE, 4 * BLOCK);
}

static inline void store_sums(float *to) {
    _tile_stored(0, to, 4 * BLOCK);
    _tile_stored(1, to + SIDE, 4 * BLOCK);
    _tile_stored(2, to + SIDE * BLOCK, 4 * BLOCK);
    _tile_stored(3, to + SIDE * BLOCK + SIDE, 4 * BLOCK);
}

/* 32 inputs more of 32 rows of states. */
static inline void add_products(const Bf16 *states, int64_t stride, const Bf16 *weights) {
    _tile_loadd(4, states, 2 * stride);
    _tile_loadd(6, weights, 64);
    _tile_loadd(7, weights + TILE, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(5, states + SIDE * stride, 2 * stride);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
}

/* states (rows, inputs), rows apart by stride, to out (rows, outputs); rows is a multiple of 32.
   A block is finished by AVX-512 while the tiles sum up the next one, and the weights after these are
   fetched meanwhile. partial: (rows, 32) sums between two depths of inputs. */
static inline __attribute__((always_inline)) void multiply(
    const Linear *layer, const Bf16 *states, int64_t stride, int rows, const Bf16 *residual, Bf16 *out,
    float *partial, const int then) {
    enum { ROWS = 3 /* finished in one step, so that a depth of 384 finishes a block */ };
    float sums[2][BLOCK * BLOCK] __attribute__((aligned(64)));
    const int64_t outputs = layer->outputs, inputs = layer->inputs;
    Block last = {.bias = layer->bias};
    int done = BLOCK, turn = 0; /* none is to be finished yet */
    for (int n = 0; n < outputs; n += BLOCK)
        for (int first = 0; first < inputs; first += DEPTH) {
            const int end = first + DEPTH < inputs ? first + DEPTH : (int)inputs;
            const Bf16 *weights = layer->weights + n * inputs;
            const Bf16 *next = weights + BLOCK * end;
            const int lines = end - first, share = (lines * BLOCK + rows - 1) / rows; /* of 64 bytes */
            for (int m = 0; m < rows; m += BLOCK) {
                int line = m / BLOCK * share;
                const int until = line + share < lines ? line + share : lines;
                if (first) load_sums(partial + m * BLOCK);
                else clear_sums();
                for (int k = first; k < end; k += DEEP) {
                    add_products(states + m * stride + k, stride, weights + k * BLOCK);
                    const int to = done + ROWS < BLOCK ? done + ROWS : BLOCK;
                    finish(&last, done, to, then);
                    done = to;
                    for (int i = 0; i < 4 && line < until; i++, line++)
                        _mm_prefetch((const char *)(next + line * DEEP), _MM_HINT_T1);
                }
                finish(&last, done, BLOCK, then);
                done = BLOCK;
                if (end < inputs) {
                    store_sums(partial + m * BLOCK);
                    continue;
                }
                store_sums(sums[turn]);
                const int64_t at = m * outputs + n;
                last = (Block){sums[turn], layer->bias + n, then == RESIDUAL ? residual + at : NULL, out + at, outputs};
                done = 0, turn = !turn;
            }
        }
    finish(&last, done, BLOCK, then);
}
