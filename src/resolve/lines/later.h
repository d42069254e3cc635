/* SPDX-License-Identifier: GPL-2.0-or-later */
/* later.h - defers the writing of index files until a command is done.
 * Layer: resolve.
 *
 * Reports store the debug information they read in index files (resolve/lines/lines.h), and
 * users should not wait for that. With lines_options.later, lines_free() does not write, but
 * passes the object to this list, from which the next lines_open() of the same binary gets it.
 * When the report is printed, the command writes all of them, preferably in a background
 * process. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct index_key;
struct lines;

struct line_later {
	VEC(struct lines *) kept;
	uint64_t bytes; /* memory used by `kept` */
};

/* Takes ownership of `l`, of which only the content to be written remains. Returns false, and
 * the caller keeps `l`, if that would exceed the limit, or if out of memory. */
bool line_later_take(struct line_later *later, struct lines *l, uint64_t bytes);
/* Returns the object with this key and its ownership to the caller; NULL: none. */
struct lines *line_later_give(struct line_later *later, const struct index_key *key);
/* Returns whether there is something to write. */
bool line_later_any(const struct line_later *later);
/* Announces these index files to other processes (resolve/lines/writers.h) as long as the
 * returned descriptor is open. The caller, or the process that writes the files, closes it.
 * Returns a negative errno if that is not possible. */
int line_later_announce(const struct line_later *later);
/* Writes all index files; ignores errors. */
void line_later_write(struct line_later *later);
/* Frees everything, written or not. */
void line_later_done(struct line_later *later);
