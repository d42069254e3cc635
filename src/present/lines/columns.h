/* SPDX-License-Identifier: GPL-2.0-or-later */
/* columns.h - the table of the columns of text reports: one entry per column.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "aggregate/selection/keys.h"
#include "base/buf.h"
#include "present/lines/percent.h"

struct present_options;
struct limits;
struct ratio;
struct profile;

/* Caches the last formatted percentage: sorted lines have long runs of equal counts. */
struct percent_memory {
	uint64_t count;
	uint64_t total;
	char text[PERCENT_MAX]; /* "": nothing cached */
};

/* The input of a column's print function. */
struct column_cell {
	struct profile *profile;
	const struct present_options *options;
	uint32_t group;            /* group of the profile that the line shows */
	const uint64_t *counts;    /* samples by column of counts */
	const uint64_t *periods;   /* periods by column of counts, if shown */
	const uint64_t *inclusive; /* samples including callees, by column of counts */
	const struct limits *limits;         /* of the percentages, if shown */
	const uint64_t *totals;              /* totals that percentages refer to */
	const uint64_t *sums;                /* cumulative samples up to this line */
	struct percent_memory *percents;     /* of counts, by column */
	struct percent_memory *sum_percents; /* of sums */
	struct percent_memory *inclusive_percents;
	unsigned int vma_digits; /* 8 or 16 */
	const struct ratio *ratios;
	size_t at; /* index of the column of counts, the ratio, or the key */
};

struct column {
	const char *name;
	const char *title;
	const char *help;
	unsigned int width;
	enum key_id key;    /* the --by key that it shows, or KEY_ID_COUNT */
	unsigned int needs; /* NEED_... of keys.h */
	void (*print)(struct buf *out, const struct column_cell *cell);
	/* Compares two groups by the key at index `at`. */
	int (*sort)(struct profile *p, uint32_t a, uint32_t b, size_t at);
};

extern const struct column columns[]; /* ends with name NULL */

const struct column *column_find(const char *name);
/* Returns the column that shows a key, or NULL. */
const struct column *column_of_key(enum key_id key);
/* Returns true if the column of this key sorts groups by profile_text() with strcmp(). */
bool column_sorts_text(enum key_id key);
/* Appends the full value of a key, as exports show it. */
void column_put_value(struct buf *out, struct profile *p, uint32_t group, size_t at);
