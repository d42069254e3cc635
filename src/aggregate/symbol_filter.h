/* symbol_filter.h - functions that a report leaves out, or that it is about.
 * Layer: aggregate.  Filled once from the command line, then read-only. */
#pragma once
#include <stdbool.h>

#include "base/vec.h"

struct symbol_filter {
	VEC(char *) excluded;
	VEC(char *) included; /* none: all that are not excluded */
};

/* Adds the names of a comma list; they are compared whole.  0 or -ENOMEM. */
int symbol_filter_exclude(struct symbol_filter *f, const char *list);
int symbol_filter_include(struct symbol_filter *f, const char *list);
void symbol_filter_done(struct symbol_filter *f);
/* Whether it leaves anything out at all; NULL does not. */
bool symbol_filter_filters(const struct symbol_filter *f);
/* Whether the report is about a function, by its name as in the symbol table. A name in the
 * lists may be that or the demangled one. */
bool symbol_filter_wants(const struct symbol_filter *f, const char *raw);
