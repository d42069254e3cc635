/* later.h - index files that wait until a command is done.
 * Layer: resolve.
 *
 * What a report reads of debug information it keeps in index files (resolve/lines/lines.h), and nobody
 * should wait for that: with lines_options.later lines_free() does not write, but leaves what is
 * to be written here, and who opens the same binary again has it at once.  When the report is
 * printed the command writes all, best in a process that nobody waits for. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct index_key;
struct lines;

struct line_later {
	VEC(struct lines *) kept;
	uint64_t bytes; /* of what is kept */
};

/* Takes `l`, which is nothing but what is to be written any more.  False, and `l` is the
 * caller's, if that is too much to be held, or memory is short. */
bool line_later_take(struct line_later *later, struct lines *l, uint64_t bytes);
/* What was taken for a key, the caller's again; NULL: nothing. */
struct lines *line_later_give(struct line_later *later, const struct index_key *key);
/* Whether there is something to write. */
bool line_later_any(const struct line_later *later);
/* Says whose index files will be written (resolve/lines/writers.h) by whoever has the file
 * descriptor that is returned, and the caller's to close; negative: that cannot be said. */
int line_later_announce(const struct line_later *later);
/* Writes all of it; what cannot be written is left. */
void line_later_write(struct line_later *later);
/* Frees all of it, written or not. */
void line_later_done(struct line_later *later);
