/* SPDX-License-Identifier: GPL-2.0-or-later */
/* closest_match.h - "did you mean": finds the known words that are closest to a mistyped one.
 * Layer: base. */
#pragma once
#include <stddef.h>

struct closest_match {
	/* The word that the user typed; set it and zero the other fields. */
	const char *word;
	/* Borrowed from closest_match_try(); NULL: no close match yet. */
	const char *best;
	size_t best_cost;
};

/* Returns the number of edits between two words: inserting, deleting or replacing a letter, or
 * swapping two neighbours. Returns SIZE_MAX if a word is longer than CLOSEST_WORD_MAX bytes. */
enum {
	CLOSEST_WORD_MAX = 64
};
size_t edit_distance(const char *a, const char *b);
/* Stores `candidate` (borrowed) if it is closer than all previous ones and has at most one edit
 * for every three letters of the word. */
void closest_match_try(struct closest_match *n, const char *candidate);

enum {
	CLOSEST_MATCHES_MAX = 4,
	CLOSEST_TEXT_MAX = CLOSEST_MATCHES_MAX * (CLOSEST_WORD_MAX + 4) + 24
};

/* Collects the closest matches of a word, sorted by closeness; equally close ones stay in the
 * order of the calls. Ignores case. A candidate that contains the word is also close. */
struct closest_matches {
	char word[CLOSEST_WORD_MAX + 1]; /* see closest_matches_init() */
	size_t limit;
	size_t nr;
	struct closest_one {
		char name[CLOSEST_WORD_MAX + 1];
		size_t cost;
	} one[CLOSEST_MATCHES_MAX];
};

/* Initializes `n` for a mistyped word, the first `len` bytes of `word`. A word longer than
 * CLOSEST_WORD_MAX has no matches. */
void closest_matches_init(struct closest_matches *n, const char *word, size_t len);
/* Copies `candidate` if it is among the closest matches and not stored yet. */
void closest_matches_try(struct closest_matches *n, const char *candidate);
/* Formats " (Did you mean A, B or C?)", or "" if there are no matches. */
void closest_matches_text(const struct closest_matches *n,
			  char ret_text[CLOSEST_TEXT_MAX]);
