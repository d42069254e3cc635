/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_maker.h - raw records of either byte order, written word by word. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "decode/record.h"

struct maker {
	struct buf b;
	bool swap;
};

void put_u8(struct maker *m, uint8_t v);
void put_u16(struct maker *m, uint16_t v);
void put_u32(struct maker *m, uint32_t v);
void put_u64(struct maker *m, uint64_t v);
/* The text in `bytes` (at most 64), the rest of them 0. */
void put_text(struct maker *m, const char *s, size_t bytes);
/* Forgets what was there and begins a record. */
void begin(struct maker *m, uint32_t type, uint16_t misc);
/* Fills the size in. */
void finish(struct maker *m);
/* Decodes it from a copy of exactly its size. */
int decode(const struct maker *m, const struct decoder *d, struct record *ret_record);
/* Decodes all its prefixes, cut by the data's end (all are malformed) and by their own
 * size.  Returns how many of the latter were not found malformed. */
size_t decode_prefixes(const struct maker *m, const struct decoder *d);
