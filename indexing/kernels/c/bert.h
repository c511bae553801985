/* Layers of a BERT encoder. Weights are bfloat16 as `pack` puts them, everything else is float32. */

#pragma once
#include <stdint.h>

typedef struct {
    int32_t outputs, inputs; /* multiples of 32 */
    const uint16_t *weights;
    const float *bias;
} Linear;

typedef struct {
    const float *weight, *bias; /* (hidden,) */
} Norm;

typedef struct {
    Linear query_key_value, output, up, down;
    Norm after_attention, after_mlp;
} Layer;

typedef struct {
    int32_t hidden, num_heads, intermediate;
    float epsilon;
} Sizes;
