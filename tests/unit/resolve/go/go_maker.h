/* SPDX-License-Identifier: GPL-2.0-or-later */
/* go_maker.h - makes a .gopclntab of any layout, byte order and pointer size. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	GO_MADE_12 = 0xb,
	GO_MADE_116 = 0xa,
	GO_MADE_118 = 0x0,
	GO_MADE_120 = 0x1,
	GO_MADE_BYTES = 0x380,
	/* Offsets of the maker's data, for tests that damage it. */
	GO_MADE_FUNCTIONS = 0x80, /* except in layout 1.2: after the header */
	GO_MADE_RECORDS = 0x100,
	GO_MADE_NAMES = 0x200,
	GO_MADE_FILES = 0x280,
	GO_MADE_PATHS = 0x2c0,
	GO_MADE_VALUES = 0x300,
	GO_MADE_TEXT = 0x1000
};

struct go_made {
	uint32_t layout; /* GO_MADE_12 ... */
	unsigned int ptr_bytes;
	bool swap; /* the byte order of the table is not this machine's */
	uint8_t bytes[GO_MADE_BYTES];
};

/* Fills made->bytes with two functions:
 * main.hot at 0x1000: hot.go:10, 0x1010: hot.go:12, 0x1030 to 0x1040: padding
 *   without a frame
 * main.work at 0x1040: work.go:20, 0x1050: hot.go:12, 0x1060 to 0x1080: work.go:19
 *   a frame of 24 bytes from 0x1048, no caller (except in layout 1.2) */
void go_made_fill(struct go_made *made);
/* Stores a number of 1, 2, 4 or 8 bytes in the table's byte order. */
void go_made_put(struct go_made *made, size_t at, uint64_t number, unsigned int bytes);
