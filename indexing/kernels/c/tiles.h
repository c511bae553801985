/* Tiles of AMX: sixteen rows of 64 bytes, that is of 32 bfloat16 or of 16 float32. */

#pragma once
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "numbers.h"

enum {
    SIDE = 16, /* rows of a tile, and its columns in float32 */
    DEEP = 32, /* bfloat16 in a row of a tile */
    TILE = SIDE * DEEP,
};

/* Ask the system for the tiles' registers; 0 if they may be used. */
static int request_tiles(void) {
    enum { REQUEST = 0x1023, TILE_DATA = 18 };
    return (int)syscall(SYS_arch_prctl, REQUEST, TILE_DATA);
}

/* In each thread, before its first tile: all eight are full. */
static void configure_tiles(void) {
    struct {
        uint8_t palette, first_row, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } __attribute__((packed)) shapes;
    memset(&shapes, 0, sizeof shapes);
    shapes.palette = 1;
    for (int i = 0; i < 8; i++) shapes.bytes[i] = 64, shapes.rows[i] = SIDE;
    _tile_loadconfig(&shapes);
}
