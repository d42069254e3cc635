/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nearest.h - "did you mean": the known words nearest to a mistyped one.
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

enum {
	NEAREST_FEW = 4,
	NEAREST_TEXT_MAX = NEAREST_FEW * (NEAREST_WORD_MAX + 4) + 24
};

/* Several words near to one, the nearest first, of those that are equally near the one that
 * came first; capital and small letters are the same, and what has the word in it is near. */
struct nearest_few {
	char word[NEAREST_WORD_MAX + 1]; /* see nearest_few_init() */
	size_t limit;
	size_t nr;
	struct nearest_one {
		char name[NEAREST_WORD_MAX + 1];
		size_t cost;
	} one[NEAREST_FEW];
};

/* Begins with the first `len` bytes of a word as typed; a word beyond NEAREST_WORD_MAX has none near. */
void nearest_few_init(struct nearest_few *n, const char *word, size_t len);
/* Copies `candidate` if it is one of the nearest; a word that is there already stays once. */
void nearest_few_try(struct nearest_few *n, const char *candidate);
/* " (Did you mean A, B or C?)", "" where nothing is near. */
void nearest_few_text(const struct nearest_few *n, char ret_text[NEAREST_TEXT_MAX]);
