/* SPDX-License-Identifier: GPL-2.0-or-later */
/* order.h - the order of the lines of a report, including OProfile's --sort.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "present/lines/ties.h"

struct err;
struct profile;

enum order_key {
	ORDER_VMA,
	ORDER_SAMPLE, /* descending; all others ascending */
	ORDER_SYMBOL,
	ORDER_DEBUG, /* file and line of a function */
	ORDER_IMAGE,
	ORDER_APP,
	ORDER_KEY_COUNT
};

/* The keys of --sort.  Empty: by samples.  The samples break ties of other keys. */
struct order {
	enum order_key keys[ORDER_KEY_COUNT];
	size_t nr;
	/* For reports with inclusive counts. With `self` (--sort=self), sort by own samples;
	 * otherwise, and with `total` (--sort=total), sort by samples including callees. */
	bool self, total;
	bool long_names; /* sources are shown with their directories */
};

/* The sort keys that apply without --sort. */
enum line_order {
	LINES_BY_KEYS, /* the samples, then the report's keys in their order */
	LINES_BY_FUNCTION, /* OProfile's: samples, image, application, symbol, address, line */
	LINES_UNSORTED
};

/* Adds the keys of a comma-separated list; a repeated key keeps its first position.  Returns 0,
 * -ENOMEM, or -EINVAL with a one-line message, which suggests --by if only --by has the key. */
int order_parse(struct order *order, const char *list, struct err *err);
bool order_has(const struct order *order, enum order_key key);
/* Returns the report key that a --sort key orders by, or KEY_ID_COUNT. */
enum key_id order_key_id(enum order_key key);
const char *order_key_name(enum order_key key);
/* Returns the keys that are compared before the number of samples, and those compared after it.
 * Omits the keys in `without` (bits of 1 << enum key_id). */
void order_resolve(const struct order *order, enum line_order usual,
		   unsigned int without, const struct profile *p,
		   struct tie_keys *before, struct tie_keys *after);
