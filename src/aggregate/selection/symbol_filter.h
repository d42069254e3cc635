/* symbol_filter.h - functions that a report leaves out, or that it is about.
 * Layer: aggregate.  Filled once from the command line, then read-only. */
#pragma once
#include <stdbool.h>

#include "base/containers/vec.h"

struct spec;

struct symbol_filter {
	VEC(char *) excluded;
	VEC(char *) included; /* none: all that are not excluded */
};

/* Adds the names of a comma list; they are compared whole.  0 or -ENOMEM. */
int symbol_filter_exclude(struct symbol_filter *f, const char *list);
int symbol_filter_include(struct symbol_filter *f, const char *list);
void symbol_filter_done(struct symbol_filter *f);
/* Whether the lists, or symbol: in the specification, leave anything out at all; either may
 * be NULL. */
bool symbol_filter_filters(const struct symbol_filter *f, const struct spec *spec);
/* Whether the report is about a function, by its name as in the symbol table.  A name in the
 * lists, and a pattern of the specification, may mean that or the demangled one, and in the
 * lists one without a version ("read@@V1") any. */
bool symbol_filter_wants(const struct symbol_filter *f, const struct spec *spec,
			 const char *raw);
