#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* The optimal string alignment distance, three rows at a time. */
size_t nearest_distance(const char *a, const char *b)
{
	size_t rows[3][NEAREST_WORD_MAX + 1];
	size_t len_a = strlen(a);
	size_t len_b = strlen(b);

	if (len_a > NEAREST_WORD_MAX || len_b > NEAREST_WORD_MAX)
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

void nearest_try(struct nearest *n, const char *candidate)
{
	size_t cost = nearest_distance(n->word, candidate);
	size_t limit = (strlen(n->word) + 2) / 3;

	if (cost > limit || (n->best && cost >= n->best_cost))
		return;
	n->best = candidate;
	n->best_cost = cost;
}
