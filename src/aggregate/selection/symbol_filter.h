/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbol_filter.h - the functions that a report includes or excludes.
 * Layer: aggregate.  Filled once from the command line, then read-only. */
#pragma once
#include <stdbool.h>

#include "base/containers/vec.h"

struct spec;
struct symbol;
struct symtab;

struct symbol_filter {
	VEC(char *) excluded;
	VEC(char *) included; /* empty: all that are not excluded */
};

/* Add the names of a comma-separated list, which must match completely.  Return 0 or -ENOMEM. */
int symbol_filter_exclude(struct symbol_filter *f, const char *list);
int symbol_filter_include(struct symbol_filter *f, const char *list);
void symbol_filter_done(struct symbol_filter *f);
/* Returns true if the lists, or symbol: in the specification, exclude anything; both can be
 * NULL. */
bool symbol_filter_filters(const struct symbol_filter *f, const struct spec *spec);
/* Returns true if the report includes a function, by its name in the symbol table.  Listed names
 * and the specification's patterns match that name or the demangled one; a listed name without a
 * version matches any version ("read@@V1"). */
bool symbol_filter_wants(const struct symbol_filter *f, const struct spec *spec,
			 const char *raw);
/* Like symbol_filter_wants(), for a symbol of a table: each of its other names counts like the
 * one that is shown.  It is included if any of them is, and excluded if any of them is. */
bool symbol_filter_wants_symbol(const struct symbol_filter *f, const struct spec *spec,
				const struct symtab *tab, const struct symbol *symbol);
