/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbol_table.h - chooses the columns of OProfile's function tables.
 * Layer: present; for --symbols, --details and --callgraph. */
#pragma once
#include <stddef.h>

#include "present/text/text_table.h"

/* Indices of the keys. */
struct symbol_keys {
	size_t image;
	size_t app;
	size_t symbol;
	size_t address; /* only with details */
	size_t line;    /* location of the function, only with -g */
	size_t detail_line;
};

/* Finds the keys.  Returns 0, or -EINVAL if the profile lacks keys that the options need. */
int symbol_table_keys(const struct profile *p, const struct present_options *o,
		      struct symbol_keys *keys);
/* Chooses the columns of a table that already has its lines.  Returns 0 or -ENOMEM. */
int symbol_table_choose(struct text_table *t, const struct symbol_keys *keys);
