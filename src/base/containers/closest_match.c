/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/containers/closest_match.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Computes the optimal string alignment distance. Only the last three rows of the matrix are
 * stored. */
size_t edit_distance(const char *a, const char *b)
{
	size_t rows[3][CLOSEST_WORD_MAX + 1];
	size_t len_a = strlen(a);
	size_t len_b = strlen(b);

	if (len_a > CLOSEST_WORD_MAX || len_b > CLOSEST_WORD_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= len_b; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= len_a; i++) {
		const size_t *before = rows[(i + 1) % 3]; /* row i - 2 */
		const size_t *above = rows[(i - 1) % 3];
		size_t *row = rows[i % 3];

		row[0] = i;
		for (size_t j = 1; j <= len_b; j++) {
			row[j] = min3(above[j] + 1, row[j - 1] + 1,
				      above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
	}
	return rows[len_a % 3][len_b];
}

void closest_match_try(struct closest_match *n, const char *candidate)
{
	size_t cost = edit_distance(n->word, candidate);
	size_t limit = (strlen(n->word) + 2) / 3;

	if (cost > limit || (n->best && cost >= n->best_cost))
		return;
	n->best = candidate;
	n->best_cost = cost;
}

/* ---- several matches ---- */

enum {
	LETTERS_TO_CONTAIN = 4, /* shorter words are contained in too many others */
	COST_CONTAINED =
		3, /* edits that count for a candidate that contains the word */
	/* matches that are this much worse than the best are omitted */
	COST_WORSE_THAN_BEST = 3
};

static void closest_matches_lower(char *to, const char *from, size_t len)
{
	for (size_t i = 0; i < len; i++)
		to[i] = (char)tolower((unsigned char)from[i]);
	to[len] = '\0';
}

void closest_matches_init(struct closest_matches *n, const char *word, size_t len)
{
	*n = (struct closest_matches){ 0 };
	if (len > CLOSEST_WORD_MAX)
		return;
	closest_matches_lower(n->word, word, len);
	n->limit = (len + 2) / 3;
}

static size_t cost_of(const struct closest_matches *n, const char *candidate)
{
	char name[CLOSEST_WORD_MAX + 1] = "";
	size_t len = strlen(candidate);
	size_t typed = strlen(n->word);
	size_t apart = len < typed ? typed - len : len - typed;
	size_t cost = SIZE_MAX;

	if (!*n->word || len > CLOSEST_WORD_MAX)
		return SIZE_MAX;
	closest_matches_lower(name, candidate, len);
	/* The difference of the lengths is the minimum number of edits. */
	if (apart <= n->limit)
		cost = edit_distance(n->word, name);
	if (cost > COST_CONTAINED && typed >= LETTERS_TO_CONTAIN &&
	    strstr(name, n->word))
		return COST_CONTAINED;
	return cost > n->limit ? SIZE_MAX : cost;
}

void closest_matches_try(struct closest_matches *n, const char *candidate)
{
	size_t cost = cost_of(n, candidate);
	size_t at = n->nr;

	if (cost == SIZE_MAX)
		return;
	for (size_t i = 0; i < n->nr; i++)
		if (!strcasecmp(n->one[i].name, candidate))
			return;
	while (at && n->one[at - 1].cost > cost)
		at--;
	if (at == CLOSEST_MATCHES_MAX)
		return;
	n->nr += n->nr < CLOSEST_MATCHES_MAX;
	memmove(&n->one[at + 1], &n->one[at], (n->nr - at - 1) * sizeof(n->one[0]));
	n->one[at].cost = cost;
	(void)snprintf(n->one[at].name, sizeof(n->one[at].name), "%s", candidate);
}

void closest_matches_text(const struct closest_matches *n,
			  char ret_text[CLOSEST_TEXT_MAX])
{
	size_t size = CLOSEST_TEXT_MAX;
	size_t nr = n->nr;
	size_t len;

	ret_text[0] = '\0';
	while (nr && n->one[nr - 1].cost > n->one[0].cost + COST_WORSE_THAN_BEST)
		nr--;
	if (!nr)
		return;
	len = (size_t)snprintf(ret_text, size, " (Did you mean ");
	for (size_t i = 0; i < nr; i++)
		len += (size_t)snprintf(ret_text + len, size - len, "%s%s",
					!i            ? ""
					: i + 1 == nr ? " or "
						      : ", ",
					n->one[i].name);
	(void)snprintf(ret_text + len, size - len, "?)");
}
