/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reading.h - checks a reader of foreign profiles: the samples that it gives, also when the
 * profile is cut at every byte, damaged, or memory is short. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "format/foreign/foreign.h"

typedef int (*reading_fn)(const void *bytes, size_t len, foreign_fn fn, void *ctx,
			  struct foreign_info *ret_info, struct err *err);

struct reading {
	reading_fn read;
	const void *bytes;
	size_t len;
	/* All samples that are read, one line each: "EVENT COMM PID/TID TIME COUNT PERIOD:
	 * NAME(IMAGE) ... [truncated]". */
	const char *samples;
	uint64_t skipped;
	bool cut;
	uint64_t contradictions, lost;
};

/* Fails the test unless the reader gives these samples. */
void reading_check(const struct reading *want);
/* Reads all prefixes, each with its last byte at the end of the memory, and with the n-th
 * allocation failing; with every bit changed. */
void reading_check_damage(const struct reading *r);
/* Returns the samples of a profile, as in struct reading; valid until the next call. */
const char *reading_samples(reading_fn read, const void *bytes, size_t len);
/* Fails the test unless the reader refuses the text with a message that contains `why`. */
void reading_refuses(reading_fn read, const char *text, const char *why);
