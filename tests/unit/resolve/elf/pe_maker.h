/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pe_maker.h - makes a small PE file with COFF symbols, exports and functions for unwinding. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PE_MADE_BYTES = 0xe00,
	PE_MADE_BASE = 0x400000,
	PE_MADE_TEXT_AT = 0x400, /* file offsets */
	PE_MADE_DATA_AT = 0x800,
	PE_MADE_SYMBOLS_AT = 0xa00,
	PE_MADE_TEXT_RVA = 0x1000,
	PE_MADE_DATA_RVA = 0x2000,
	PE_MADE_TEXT_BYTES = 0x280
};

struct pe_made {
	bool is32;       /* i386 instead of x86-64 */
	bool no_symbols; /* the file was stripped */
	uint16_t subsystem;
	uint8_t bytes[PE_MADE_BYTES];
};

/* Fills made->bytes. The code has 0x280 bytes in .text:
 * 0x000 first (exported), 0x100 a_function_with_a_long_name (static), 0x200 label (exported).
 * The table for unwinding (x86-64) has [0x000, 0x080), [0x100, 0x160) and its continuation to
 * 0x180. The build-id is 0102030405060708090a0b0c0d0e0f10. The export "other" is a name in another library. */
void pe_made_fill(struct pe_made *made);
