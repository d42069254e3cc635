/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.h - options as tables: the parser, --help, completion and the registry test all
 * read the same rows.
 * Layer: tools.  Parsing is getopt_long(3)'s, so abbreviations of long options work and a
 * word behind an option with an optional value is never swallowed. */
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
	OPTION_REFUSED,  /* known, but not offered: `refusal` says why and what to do */
	OPTION_KIND_COUNT
};

struct option_row {
	const char *name; /* long name without dashes; NULL ends a table */
	char letter;      /* 0: none */
	enum option_kind kind;
	const char *value; /* name of the value in --help, NULL if it takes none */
	bool value_optional;
	bool not_zero;    /* COUNT, DURATION: 0 is refused */
	size_t offset;    /* of the field in the command's own struct */
	const char *help; /* one or more sentences; wrapped by --help */
	const char *refusal;
	/* A second spelling (or letter) of the row with this name: kind, value and offset are
	 * read from there, and --help shows both on one line. */
	const char *alias_of;
	/* Names of rows of the same table, separated by blanks.  The row is refused together with
	 * any of `not_with`, whose text ends in `instead`, if that is given, and without one of
	 * `only_with`. */
	const char *not_with;
	const char *instead;
	const char *only_with;
};

#define OPTION(type, field) offsetof(type, field)

enum options_order {
	OPTIONS_PERMUTE,      /* options and words in any order */
	OPTIONS_STOP_AT_WORD, /* the first word begins a command line */
};

/* Rows and the struct that their offsets are in. */
struct options_table {
	const struct option_row *rows;
	void *target;
};

struct words {
	int argc;
	char **argv; /* words follow from argv[1]; options are sorted before them */
	int first;   /* set on success: the index of the first word that is no option */
};

/* Fills the tables' structs from the words.  Lists in them are the caller's to free, also
 * after an error: 0, -EINVAL with a line that names the option and what it takes, -ENOMEM. */
int options_parse(const struct options_table *tables, size_t nr_tables,
		  enum options_order order, struct words *words, struct err *err);
/* The row of that name, NULL if there is none. */
const struct option_row *options_find(const struct option_row *rows, const char *name);
/* Whether the name is one of `names`, which blanks separate. */
bool options_has_name(const char *names, const char *name);
/* The row that `row` is a spelling of, or `row` itself. */
const struct option_row *options_main_row(const struct option_row *rows,
					  const struct option_row *row);
