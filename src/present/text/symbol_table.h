/* symbol_table.h - the columns of OProfile's tables of functions.
 * Layer: present; of --symbols, --details and --callgraph (oprofile-behaviour.md 1.1.4). */
#pragma once
#include <stddef.h>

#include "present/text/text_table.h"

/* Positions of the keys. */
struct symbol_keys {
	size_t image;
	size_t app;
	size_t symbol;
	size_t address; /* with details only */
	size_t line;    /* where a function begins: with -g only */
	size_t detail_line;
};

/* 0, or -EINVAL: the profile has not the keys that the options need. */
int symbol_table_keys(const struct profile *p, const struct present_options *o,
		      struct symbol_keys *keys);
/* Chooses the columns of a table whose lines are there.  0 or -ENOMEM. */
int symbol_table_choose(struct text_table *t, const struct symbol_keys *keys);
