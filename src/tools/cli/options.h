/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.h - options as tables: the parser, --help, completion and a test all read the same rows.
 * Layer: tools. Parsing uses getopt_long(3), so long options can be abbreviated, and a word after
 * an option with an optional value is never consumed as the value. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/word_list.h"

struct err;

enum option_kind {
	OPTION_FLAG, /* bool */
	OPTION_TEXT, /* const char *, borrowed from argv; "" for an optional value left out */
	OPTION_LIST,     /* struct word_list: every use adds a value */
	OPTION_COUNT,    /* uint64_t, decimal or 0x */
	OPTION_NUMBER,   /* double */
	OPTION_DURATION, /* uint64_t nanoseconds: 10, 1.5s, 250ms, 2m */
	OPTION_REFUSED, /* known but not supported; `refusal` explains why and suggests an
                          * alternative */
	OPTION_KIND_COUNT
};

struct option_row {
	const char *name; /* long name without dashes; NULL ends a table */
	char letter;      /* 0: none */
	enum option_kind kind;
	const char *value; /* name of the value in --help, NULL if it takes none */
	bool value_optional;
	/* Offset of a bool that is set if the user gave the letter and not a long name; 0: none. */
	size_t by_letter;
	/* Only the long option takes a value, so further letters can follow the letter of this
	 * one. */
	bool letter_alone;
	bool not_zero; /* for OPTION_COUNT and OPTION_DURATION: the value 0 is an error */
	size_t offset; /* offset of the value in the struct to which the table belongs */
	/* Starts a group of rows in --help; NULL: the row belongs to the same group as the
	 * previous row. */
	const char *heading;
	const char *help; /* one or more sentences; wrapped by --help */
	const char *refusal;
	/* Another spelling (or letter) of the row with this name: kind, value and offset are read
	 * from that row, and --help shows both on one line. */
	const char *alias_of;
	/* Names of other rows of the table, separated by blanks. The option cannot be combined
	 * with any of `not_with`; the error message ends with `instead`, if that is set. The
	 * option requires one of `only_with`. */
	const char *not_with;
	const char *instead;
	const char *only_with;
};

#define OPTION(type, field) offsetof(type, field)

enum options_order {
	OPTIONS_PERMUTE,      /* options and other words in any order */
	OPTIONS_STOP_AT_WORD, /* the first non-option word begins a command line */
};

/* Rows, and the struct to which their offsets refer. */
struct options_table {
	const struct option_row *rows;
	void *target;
};

struct words {
	int argc;
	char **argv; /* arguments start at argv[1]; options are moved before other arguments */
	int first; /* set on success: the index of the first non-option word */
};

/* Parses the arguments, and stores the values in the structs of the tables. The caller frees the
 * lists in these, also after an error. Returns 0, -EINVAL with a message in *err that names the
 * option and its valid values, or -ENOMEM. */
int options_parse(const struct options_table *tables, size_t nr_tables,
		  enum options_order order, struct words *words, struct err *err);
/* Returns the row of that name, or NULL. */
const struct option_row *options_find(const struct option_row *rows, const char *name);
/* Returns whether `name` is among `names`, which are separated by blanks. */
bool options_has_name(const char *names, const char *name);
/* Returns the row of which `row` is another spelling (alias_of), or `row` itself. */
const struct option_row *options_main_row(const struct option_row *rows,
					  const struct option_row *row);
