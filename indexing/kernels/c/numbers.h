/* Sixteen float32 at a time, from and to bfloat16: what AVX-512 does between two products. */

#pragma once
#include <immintrin.h>
#include <stdint.h>

typedef uint16_t Bf16;

static inline __m512 widen(const Bf16 *from) {
    const __m512i words = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)from));
    return (__m512)_mm512_slli_epi32(words, 16);
}

/* 32 numbers, rounded. */
static inline void narrow(Bf16 *to, __m512 low, __m512 high) {
    _mm512_storeu_si512(to, (__m512i)_mm512_cvtne2ps_pbh(high, low));
}

/* 2 to the x for x up to 0, to one part in 13,000: bfloat16 keeps one in 256. 0 far below 0. */
static inline __m512 power_of_two(__m512 x) {
    const __m512 rest = _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); /* x - floor(x) */
    __m512 series = _mm512_set1_ps(0.07802439f);
    series = _mm512_fmadd_ps(series, rest, _mm512_set1_ps(0.22606739f));
    series = _mm512_fmadd_ps(series, rest, _mm512_set1_ps(0.69583344f));
    series = _mm512_fmadd_ps(series, rest, _mm512_set1_ps(0.99992523f));
    return _mm512_scalef_ps(series, x); /* times 2 to the floor(x) */
}

/* GELU, x times the normal distribution's share below x, to 0.000025: an odd polynomial up to 4.4. */
static inline __m512 gelu(__m512 x) {
    static const float factors[] = {3.98761575e-01f, -6.60763733e-02f, 9.64299574e-03f,
                                    -1.05498359e-03f, 8.42916541e-05f, -4.72474681e-06f,
                                    1.74078457e-07f, -3.75387475e-09f, 3.56922805e-11f};
    const __m512 most = _mm512_set1_ps(4.4f);
    const __m512 within = _mm512_min_ps(_mm512_max_ps(x, _mm512_sub_ps(_mm512_setzero_ps(), most)), most);
    const __m512 square = _mm512_mul_ps(within, within);
    __m512 series = _mm512_set1_ps(factors[8]);
    for (int i = 7; i >= 0; i--) series = _mm512_fmadd_ps(series, square, _mm512_set1_ps(factors[i]));
    return _mm512_mul_ps(x, _mm512_fmadd_ps(series, within, _mm512_set1_ps(0.5f)));
}

/* Sixteen rows of sixteen words become sixteen columns. */
static inline void transpose(__m512i row[16]) {
    __m512i part[16];
    for (int i = 0; i < 16; i += 2) {
        part[i] = _mm512_unpacklo_epi32(row[i], row[i + 1]);
        part[i + 1] = _mm512_unpackhi_epi32(row[i], row[i + 1]);
    }
    for (int i = 0; i < 16; i += 4)
        for (int j = 0; j < 2; j++) {
            row[i + 2 * j] = _mm512_unpacklo_epi64(part[i + j], part[i + j + 2]);
            row[i + 2 * j + 1] = _mm512_unpackhi_epi64(part[i + j], part[i + j + 2]);
        }
    for (int i = 0; i < 16; i++) {
        const int from = i % 4 + i / 8 * 8, which = i / 4 % 2;
        part[i] = which ? _mm512_shuffle_i32x4(row[from], row[from + 4], 0xdd)
                        : _mm512_shuffle_i32x4(row[from], row[from + 4], 0x88);
    }
    for (int i = 0; i < 8; i++) {
        row[i] = _mm512_shuffle_i32x4(part[i], part[i + 8], 0x88);
        row[i + 8] = _mm512_shuffle_i32x4(part[i], part[i + 8], 0xdd);
    }
}
