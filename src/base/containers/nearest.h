/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nearest.h - "did you mean": finds the known words that are closest to a mistyped one.
 * Layer: base. */
#pragma once
#include <stddef.h>

struct nearest {
	const char *word; /* as typed; set it and zero the other fields */
	const char *best; /* borrowed from nearest_try(); NULL: no close match yet */
	size_t best_cost;
};

/* Returns the number of edits between two words: inserting, deleting or replacing a letter, or
 * swapping two neighbours. Returns SIZE_MAX if a word is longer than NEAREST_WORD_MAX bytes. */
enum {
	NEAREST_WORD_MAX = 64
};
size_t nearest_distance(const char *a, const char *b);
/* Stores `candidate` if it is closer than all previous ones and close enough to be meant: at
 * most one edit for every three letters. */
void nearest_try(struct nearest *n, const char *candidate);

enum {
	NEAREST_FEW = 4,
	NEAREST_TEXT_MAX = NEAREST_FEW * (NEAREST_WORD_MAX + 4) + 24
};

/* The closest matches of a word, the closest first; equally close ones in the order of the
 * calls. Ignores case. A candidate that contains the word is also close. */
struct nearest_few {
	char word[NEAREST_WORD_MAX + 1]; /* see nearest_few_init() */
	size_t limit;
	size_t nr;
	struct nearest_one {
		char name[NEAREST_WORD_MAX + 1];
		size_t cost;
	} one[NEAREST_FEW];
};

/* Starts with the first `len` bytes of a word as typed. A word longer than NEAREST_WORD_MAX has
 * no matches. */
void nearest_few_init(struct nearest_few *n, const char *word, size_t len);
/* Copies `candidate` if it is among the closest matches and not stored yet. */
void nearest_few_try(struct nearest_few *n, const char *candidate);
/* Formats " (Did you mean A, B or C?)", or "" if there are no matches. */
void nearest_few_text(const struct nearest_few *n, char ret_text[NEAREST_TEXT_MAX]);
