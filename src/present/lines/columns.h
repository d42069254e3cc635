/* columns.h - the columns of text reports: one row a column.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "aggregate/selection/keys.h"
#include "base/buf.h"
#include "present/lines/percent.h"

struct present_options;
struct ratio;
struct profile;

/* The last percent field made: sorted lines have long runs of equal counts. */
struct percent_memory {
	uint64_t count;
	uint64_t total;
	char text[PERCENT_MAX]; /* "": nothing yet */
};

/* What a column prints. */
struct column_cell {
	struct profile *profile;
	const struct present_options *options;
	uint32_t group;            /* of the profile: what the line is about */
	const uint64_t *counts;    /* samples by column of counts */
	const uint64_t *periods;   /* likewise, where they are shown */
	const uint64_t *inclusive; /* samples with all that was called, likewise */
	const uint64_t *totals;    /* what their shares are of */
	const uint64_t *sums;      /* of this line and those above it */
	struct percent_memory *percents;     /* of counts, by column */
	struct percent_memory *sum_percents; /* of sums */
	struct percent_memory *inclusive_percents;
	unsigned int vma_digits; /* 8 or 16 */
	const struct ratio *ratios;
	size_t at; /* column of counts, ratio, or position of the key */
};

struct column {
	const char *name;
	const char *title;
	const char *help;
	unsigned int width;
	enum key_id key;    /* that it shows in --by; KEY_ID_COUNT: none */
	unsigned int needs; /* NEED_... of keys.h */
	void (*print)(struct buf *out, const struct column_cell *cell);
	/* Orders two groups by the key at position `at`. */
	int (*sort)(struct profile *p, uint32_t a, uint32_t b, size_t at);
};

extern const struct column columns[]; /* ends with name NULL */

const struct column *column_find(const char *name);
/* The column that shows a key. */
const struct column *column_of_key(enum key_id key);
/* Whether that column orders groups by profile_text(), as strcmp() does. */
bool column_sorts_text(enum key_id key);
/* The value of a key in full, as exports show it. */
void column_put_value(struct buf *out, struct profile *p, uint32_t group, size_t at);
