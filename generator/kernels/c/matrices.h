/* Matrices in float32, bfloat16, or quantized, times a few vectors of float32. */

#pragma once
#include <math.h>

#include "vectors.h"

enum { BLOCK = 32, MAX_VECTORS = 4 /* vectors at once */ };

/* Dense matrices lie row by row. Quantized ones: in each block of 32 columns, w = step * code +
   offset; 16 rows are interleaved, a word of each holds the codes of its next columns. */
typedef struct {
    int32_t dtype, rows, columns;
    const void *data;
    const float *scales; /* by 16 rows and block: 16 factors, 16 terms */
    const float *bias;   /* or null */
} Matrix;

/* 16 quantized rows times n vectors. A code becomes the upper bits of a fraction, 1 + code /
   2^bits, which takes no conversion. */
static inline __attribute__((always_inline)) void multiply_quantized(
    const Matrix *matrix, int64_t block, const float *in, const int n, const int bits, Floats *out) {
    const int each = 32 / bits;
    const uint32_t ones = 0x3f800000, mask = ((1u << bits) - 1) << (23 - bits);
    const int64_t words = matrix->columns / each;
    const Words *word = (const Words *)matrix->data + block * words;
    const Floats *scales = (const Floats *)matrix->scales + block * 2 * (matrix->columns / BLOCK);
    Floats sums[MAX_VECTORS][2];
    for (int i = 0; i < n; i++) sums[i][0] = sums[i][1] = (Floats){0};
    for (int64_t column = 0; column < matrix->columns; column += BLOCK, scales += 2) {
        const Floats factor = scales[0], term = scales[1];
        for (int part = 0; part < bits; part++, word++) {
#pragma GCC unroll 8
            for (int j = 0; j < each; j++) {
                const int shift = 23 - bits - bits * j;
                Words shifted = shift > 0 ? *word << shift : *word >> -shift;
                Floats weight = (Floats)((shifted & mask) | ones) * factor + term;
                for (int i = 0; i < n; i++)
                    sums[i][j & 1] += weight * in[i * (int64_t)matrix->columns + column + part * each + j];
            }
        }
    }
    for (int i = 0; i < n; i++) out[i] = sums[i][0] + sums[i][1];
}

/* One dense row times n vectors. */
static inline __attribute__((always_inline)) void multiply_row(
    const Matrix *matrix, int64_t row, const float *in, const int n, const int dtype, float *out) {
    const int64_t columns = matrix->columns;
    Floats sums[MAX_VECTORS];
    for (int i = 0; i < n; i++) sums[i] = (Floats){0};
    int64_t column = 0;
    for (; column + LANES <= columns; column += LANES) {
        Floats weight = load(matrix->data, row * columns + column, dtype);
        for (int i = 0; i < n; i++) sums[i] += weight * *(const Floats *)(in + i * columns + column);
    }
    for (int i = 0; i < n; i++) out[i] = total(sums[i]);
    for (; column < columns; column++)
        for (int i = 0; i < n; i++)
            out[i] += load_one(matrix->data, row * columns + column, dtype) * in[i * columns + column];
}

static inline __attribute__((always_inline)) void multiply_block(
    const Matrix *matrix, int64_t block, int last, const float *in, const int n, Floats *out) {
    if (matrix->dtype == Q4) {
        multiply_quantized(matrix, block, in, n, 4, out);
    } else if (matrix->dtype == Q8) {
        multiply_quantized(matrix, block, in, n, 8, out);
    } else {
        for (int r = 0; r < last; r++) {
            float products[MAX_VECTORS];
            if (matrix->dtype == BF16)
                multiply_row(matrix, block * LANES + r, in, n, BF16, products);
            else
                multiply_row(matrix, block * LANES + r, in, n, F32, products);
            for (int i = 0; i < n; i++) out[i][r] = products[i];
        }
    }
}

/* This thread's part of the blocks of 16 rows. */
static void share(int64_t blocks, int thread, int threads, int64_t *first, int64_t *end) {
    *first = blocks * thread / threads;
    *end = blocks * (thread + 1) / threads;
}

/* out (rows, matrix rows) = or += matrix times in (rows, columns), this thread's part of it. */
static void multiply(const Matrix *matrix, const float *in, int rows, float *out, int adding,
                     int thread, int threads) {
    int64_t first, end;
    share((matrix->rows + LANES - 1) / LANES, thread, threads, &first, &end);
    for (int64_t block = first; block < end; block++) {
        const int64_t row = block * LANES;
        const int last = matrix->rows - row < LANES ? (int)(matrix->rows - row) : LANES;
        for (int from = 0; from < rows; from += MAX_VECTORS) {
            const float *some = in + from * (int64_t)matrix->columns;
            const int n = rows - from < MAX_VECTORS ? rows - from : MAX_VECTORS;
            Floats products[MAX_VECTORS];
            switch (n) {
                case 1: multiply_block(matrix, block, last, some, 1, products); break;
                case 2: multiply_block(matrix, block, last, some, 2, products); break;
                case 3: multiply_block(matrix, block, last, some, 3, products); break;
                default: multiply_block(matrix, block, last, some, 4, products);
            }
            for (int i = 0; i < n; i++) {
                float *to = out + (from + i) * (int64_t)matrix->rows + row;
                for (int r = 0; r < last; r++) {
                    float value = products[i][r] + (matrix->bias ? matrix->bias[row + r] : 0.0f);
                    to[r] = adding ? to[r] + value : value;
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
