/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_maker.h - makes raw records in either byte order, word by word. */
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
/* Writes the text into `bytes` bytes (at most 64), padded with zeros. */
void put_text(struct maker *m, const char *s, size_t bytes);
/* Drops the old record and begins a new one. */
void begin(struct maker *m, uint32_t type, uint16_t misc);
/* Stores the size in the header of the record. */
void finish(struct maker *m);
/* Decodes the record from a copy of exactly its size. */
int decode(const struct maker *m, const struct decoder *d, struct record *ret_record);
/* Decodes all prefixes of the record, cut by the end of the data (all are malformed) and by
 * their own size. Returns how many of the latter were not detected as malformed. */
size_t decode_prefixes(const struct maker *m, const struct decoder *d);
