/* nearest.h - "did you mean": the known word nearest to a mistyped one.
 * Layer: base. */
#pragma once
#include <stddef.h>

struct nearest {
	const char *word; /* as typed; set by the caller, the rest starts as zero */
	const char *best; /* borrowed from nearest_try(), NULL while nothing is near */
	size_t best_cost;
};

/* Edits that turn one word into the other: inserting, deleting, replacing a letter and
 * swapping two neighbours cost 1 each.  Words beyond NEAREST_WORD_MAX bytes are never near:
 * SIZE_MAX. */
enum {
	NEAREST_WORD_MAX = 64
};
size_t nearest_distance(const char *a, const char *b);
/* Remembers `candidate` if it is nearer than what came before, and near enough to be what
 * was meant: at most one edit for every three letters. */
void nearest_try(struct nearest *n, const char *candidate);
