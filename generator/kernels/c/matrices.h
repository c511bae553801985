/* Matrices of float32, bfloat16, or levels, times a few vectors of float32. */

#pragma once
#include <math.h>

#include "vectors.h"

enum { GROUP = 32, MOST = 4 /* vectors at once */ };

/* Dense matrices lie row by row. Those of levels: in each group of 32 columns, w = step * code +
   offset; sixteen rows lie side by side, a word of each having the codes of its next columns. */
typedef struct {
    int32_t kind, rows, columns;
    const void *data;
    const float *scales; /* by sixteen rows and group: sixteen factors, sixteen terms */
    const float *bias;   /* or null */
} Matrix;

/* Sixteen rows of levels times n vectors. A code becomes the upper bits of a fraction, 1 + code /
   2^bits, which takes no conversion. */
static inline __attribute__((always_inline)) void by_levels(
    const Matrix *matrix, int64_t block, const float *in, const int n, const int bits, Floats *out) {
    const int each = 32 / bits;
    const uint32_t ones = 0x3f800000, mask = ((1u << bits) - 1) << (23 - bits);
    const int64_t words = matrix->columns / each;
    const Words *word = (const Words *)matrix->data + block * words;
    const Floats *scales = (const Floats *)matrix->scales + block * 2 * (matrix->columns / GROUP);
    Floats sums[MOST][2];
    for (int i = 0; i < n; i++) sums[i][0] = sums[i][1] = (Floats){0};
    for (int64_t column = 0; column < matrix->columns; column += GROUP, scales += 2) {
        const Floats factor = scales[0], term = scales[1];
        for (int part = 0; part < bits; part++, word++) {
#pragma GCC unroll 8
            for (int j = 0; j < each; j++) {
                const int shift = 23 - bits - bits * j;
                Words moved = shift > 0 ? *word << shift : *word >> -shift;
                Floats weight = (Floats)((moved & mask) | ones) * factor + term;
                for (int i = 0; i < n; i++)
                    sums[i][j & 1] += weight * in[i * (int64_t)matrix->columns + column + part * each + j];
            }
        }
    }
    for (int i = 0; i < n; i++) out[i] = sums[i][0] + sums[i][1];
}

/* One row of numbers times n vectors. */
static inline __attribute__((always_inline)) void by_numbers(
    const Matrix *matrix, int64_t row, const float *in, const int n, const int kind, float *out) {
    const int64_t columns = matrix->columns;
    Floats sums[MOST];
    for (int i = 0; i < n; i++) sums[i] = (Floats){0};
    int64_t column = 0;
    for (; column + LANES <= columns; column += LANES) {
        Floats weight = loaded(matrix->data, row * columns + column, kind);
        for (int i = 0; i < n; i++) sums[i] += weight * *(const Floats *)(in + i * columns + column);
    }
    for (int i = 0; i < n; i++) out[i] = total(sums[i]);
    for (; column < columns; column++)
        for (int i = 0; i < n; i++)
            out[i] += number(matrix->data, row * columns + column, kind) * in[i * columns + column];
}

static inline __attribute__((always_inline)) void sixteen(
    const Matrix *matrix, int64_t block, int last, const float *in, const int n, Floats *out) {
    if (matrix->kind == LEVELS4) {
        by_levels(matrix, block, in, n, 4, out);
    } else if (matrix->kind == LEVELS8) {
        by_levels(matrix, block, in, n, 8, out);
    } else {
        for (int r = 0; r < last; r++) {
            float made[MOST];
            if (matrix->kind == BF16)
                by_numbers(matrix, block * LANES + r, in, n, BF16, made);
            else
                by_numbers(matrix, block * LANES + r, in, n, F32, made);
            for (int i = 0; i < n; i++) out[i][r] = made[i];
        }
    }
}

/* This thread's part of the blocks of sixteen. */
static void part(int64_t blocks, int thread, int threads, int64_t *first, int64_t *end) {
    *first = blocks * thread / threads;
    *end = blocks * (thread + 1) / threads;
}

/* out (rows, matrix rows) = or += matrix times in (rows, columns), this thread's part of it. */
static void multiply(const Matrix *matrix, const float *in, int rows, float *out, int adding,
                     int thread, int threads) {
    int64_t first, end;
    part((matrix->rows + LANES - 1) / LANES, thread, threads, &first, &end);
    for (int64_t block = first; block < end; block++) {
        const int64_t row = block * LANES;
        const int last = matrix->rows - row < LANES ? (int)(matrix->rows - row) : LANES;
        for (int from = 0; from < rows; from += MOST) {
            const float *some = in + from * (int64_t)matrix->columns;
            const int n = rows - from < MOST ? rows - from : MOST;
            Floats made[MOST];
            switch (n) {
                case 1: sixteen(matrix, block, last, some, 1, made); break;
                case 2: sixteen(matrix, block, last, some, 2, made); break;
                case 3: sixteen(matrix, block, last, some, 3, made); break;
                default: sixteen(matrix, block, last, some, 4, made);
            }
            for (int i = 0; i < n; i++) {
                float *to = out + (from + i) * (int64_t)matrix->rows + row;
                for (int r = 0; r < last; r++) {
                    float found = made[i][r] + (matrix->bias ? matrix->bias[row + r] : 0.0f);
                    to[r] = adding ? to[r] + found : found;
                }
            }
        }
    }
}

static void normalise(const float *in, const float *weight, int rows, int width, float epsilon, float *out) {
    for (int i = 0; i < rows; i++, in += width, out += width) {
        double squares = 0;
        for (int j = 0; j < width; j++) squares += (double)in[j] * in[j];
        const float factor = 1.0f / sqrtf((float)(squares / width) + epsilon);
        for (int j = 0; j < width; j++) out[j] = in[j] * factor * weight[j];
    }
}
