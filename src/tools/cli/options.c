/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/containers/closest_match.h"
#include "base/err.h"
#include "base/parse.h"

enum {
	/* getopt_long() returns LONG_BASE + i for row i, and smaller values for letters. */
	LONG_BASE = 256
};

/* A row whose option the user gave, and its table. */
struct options_given {
	const struct option_row *row;
	const struct option_row *rows;
};

/* The input of getopt_long, built from the tables. */
struct parser {
	const struct options_table *tables;
	size_t nr_tables;
	VEC(struct option) longs;
	VEC(char) letters;
	VEC(struct options_given) given;
};

/* A row, its table, and the struct to which its offset refers. */
struct options_found {
	const struct option_row *row;
	const struct option_row *rows;
	void *target;
};

const struct option_row *options_find(const struct option_row *rows, const char *name)
{
	for (; rows->name; rows++) {
		if (!strcmp(rows->name, name))
			return rows;
	}
	return NULL;
}

bool options_has_name(const char *names, const char *name)
{
	size_t len = strlen(name);

	for (; *names; names += strspn(names, " ")) {
		size_t other = strcspn(names, " ");

		if (other == len && !memcmp(names, name, len))
			return true;
		names += other;
	}
	return false;
}

const struct option_row *options_main_row(const struct option_row *rows,
					  const struct option_row *row)
{
	const struct option_row *of =
		row->alias_of ? options_find(rows, row->alias_of) : NULL;

	return of ? of : row;
}

/* Returns the row for a result of getopt_long(): a letter, or LONG_BASE plus the row's index over
 * all tables. */
static struct options_found find_value(const struct parser *p, int value)
{
	int number = LONG_BASE;

	for (size_t t = 0; t < p->nr_tables; t++) {
		const struct option_row *rows = p->tables[t].rows;

		for (const struct option_row *row = rows; row->name; row++, number++) {
			if (number == value || (row->letter && row->letter == value))
				return (struct options_found){
					options_main_row(rows, row), rows,
					p->tables[t].target
				};
		}
	}
	return (struct options_found){ 0 };
}

static int argument_need(const struct option_row *row)
{
	if (!row->value)
		return no_argument;
	return row->value_optional ? optional_argument : required_argument;
}

static bool add_letter(struct parser *p, const struct option_row *row, int need)
{
	/* getopt_long() also returns '?' for unknown options, so options_parse_words() handles the
	 * option -?. */
	if (!row->letter || row->letter == '?')
		return true;
	if (!vec_push(&p->letters, row->letter))
		return false;
	if (row->letter_alone)
		need = no_argument;
	for (int i = 0; i < need; i++) {
		if (!vec_push(&p->letters, ':'))
			return false;
	}
	return true;
}

static bool options_add_table(struct parser *p, const struct option_row *rows,
			      int *number)
{
	int first = *number;

	for (const struct option_row *row = rows; row->name; row++, ++*number) {
		const struct option_row *of = options_main_row(rows, row);
		struct option entry = {
			.name = row->name,
			.has_arg = argument_need(of),
			/* All spellings of an option have the same value, so that an abbreviation
			 * which matches two of them is not ambiguous. */
			.val = first + (int)(of - rows),
		};

		if (!vec_push(&p->longs, entry) || !add_letter(p, row, entry.has_arg))
			return false;
	}
	return true;
}

static bool options_build(struct parser *p, enum options_order order)
{
	int number = LONG_BASE;

	if (order == OPTIONS_STOP_AT_WORD && !vec_push(&p->letters, '+'))
		return false;
	if (!vec_push(&p->letters, ':'))
		return false;
	for (size_t t = 0; t < p->nr_tables; t++) {
		if (!options_add_table(p, p->tables[t].rows, &number))
			return false;
	}
	return vec_push(&p->longs, (struct option){ 0 }) && vec_push(&p->letters, '\0');
}

static int store_parsed(const struct option_row *row, const char *text, bool good,
			const char *what, struct err *err)
{
	if (good)
		return 0;
	return err_set(err, -EINVAL, "--%s: '%s' is not %s", row->name, text, what);
}

static int store_counted(const struct option_row *row, const char *text, bool good,
			 uint64_t value, const char *what, struct err *err)
{
	if (good && !value && row->not_zero)
		return err_set(err, -EINVAL,
			       "--%s: %s is too small: the value must be above 0",
			       row->name, text);
	return store_parsed(row, text, good, what, err);
}

/* Stores the value of an option. `text` is NULL for a flag, or if an optional value was omitted. */
static int options_store(struct options_found f, const char *text, struct err *err)
{
	const struct option_row *row = f.row;
	void *field = (char *)f.target + row->offset;
	struct word_list *list = field;
	bool good;

	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	case OPTION_TEXT:
		*(const char **)field = text ? text : "";
		return 0;
	case OPTION_LIST:
		if (!vec_push(&list->values, text ? text : ""))
			return err_set(err, -ENOMEM, "out of memory");
		return 0;
	case OPTION_COUNT:
		good = parse_u64(text, field);
		return store_counted(row, text, good, *(uint64_t *)field,
				     "a whole number", err);
	case OPTION_NUMBER:
		return store_parsed(row, text, parse_double(text, field), "a number",
				    err);
	case OPTION_DURATION:
		good = parse_duration_ns(text, field);
		return store_counted(row, text, good, *(uint64_t *)field,
				     "a time such as 10, 1.5s, 250ms or 2m", err);
	case OPTION_REFUSED:
	case OPTION_KIND_COUNT:
		break;
	}
	return err_set(err, -EINVAL, "--%s: %s", row->name, row->refusal);
}

/* Lists the options that begin with a mistyped or abbreviated name. */
static size_t list_matches(const struct parser *p, const char *name, size_t len,
			   char *text, size_t room)
{
	size_t used = 0;
	size_t nr = 0;

	for (size_t i = 0; i + 1 < p->longs.nr; i++) {
		const char *known = p->longs.at[i].name;

		if (strncmp(known, name, len) || strlen(known) + 5 > room - used)
			continue;
		used += (size_t)snprintf(text + used, room - used, "%s--%s",
					 nr ? ", " : "", known);
		nr++;
	}
	return nr;
}

static int unknown_long(const struct parser *p, const char *word, struct err *err)
{
	char name[CLOSEST_WORD_MAX + 1];
	char matches[ERR_TEXT_MAX / 2];
	struct closest_match near = { .word = name };
	size_t len = strcspn(word + 2, "=");

	if (len >= sizeof(name))
		return err_set(err, -EINVAL, "unknown option %.*s...", 40, word);
	memcpy(name, word + 2, len);
	name[len] = '\0';
	if (list_matches(p, name, len, matches, sizeof(matches)) > 1)
		return err_set(err, -EINVAL, "option --%s is ambiguous: %s", name,
			       matches);
	for (size_t i = 0; i + 1 < p->longs.nr; i++)
		closest_match_try(&near, p->longs.at[i].name);
	if (near.best)
		return err_set(err, -EINVAL, "unknown option --%s: did you mean --%s?",
			       name, near.best);
	return err_set(err, -EINVAL, "unknown option --%s", name);
}

/* Reports an error of getopt_long(), which returned '?' (unknown or ambiguous option, or
 * unexpected value) or ':' (missing value). `optopt` is then the option's letter or value, or 0
 * for an unknown long name. */
static int parse_failed(const struct parser *p, int code, const char *word,
			struct err *err)
{
	struct options_found f = { 0 };

	if (optopt)
		f = find_value(p, optopt);
	if (!f.row && optopt)
		return err_set(err, -EINVAL, "unknown option -%c", optopt);
	if (!f.row)
		return unknown_long(p, word, err);
	if (f.row->kind == OPTION_REFUSED)
		return options_store(f, NULL, err);
	if (code == ':')
		return err_set(err, -EINVAL, "--%s needs a value: %s", f.row->name,
			       f.row->value);
	return err_set(err, -EINVAL, "--%s takes no value", f.row->name);
}

static int options_parse_words(struct parser *p, int argc, char **argv, struct err *err)
{
	int r;

	opterr = 0;
	/* Makes glibc restart, and read the first character of the letters again. */
	optind = 0;
	for (;;) {
		int value = getopt_long(argc, argv, p->letters.at, p->longs.at, NULL);
		struct options_found f;

		if (value == -1)
			return 0;
		f = find_value(p, value);
		if (value == '?' && optopt == '?' && f.row)
			r = options_store(f, NULL, err);
		else if (value == '?' || value == ':' || !f.row)
			r = parse_failed(p, value, argv[optind - 1], err);
		else
			r = options_store(f, optarg, err);
		if (!r && f.row && f.row->by_letter && value < LONG_BASE)
			*(bool *)((char *)f.target + f.row->by_letter) = true;
		if (!r && !vec_push(&p->given, (struct options_given){ f.row, f.rows }))
			r = err_set(err, -ENOMEM, "out of memory");
		if (r)
			return r;
	}
}

/* ---- combinations ---- */

/* Returns the row among `names` that the user gave, or NULL. */
static const struct option_row *options_given_of(const struct parser *p,
						 const struct option_row *rows,
						 const char *names)
{
	for (size_t i = 0; i < p->given.nr; i++) {
		const struct options_given *g = &p->given.at[i];

		if (g->rows == rows && options_has_name(names, g->row->name))
			return g->row;
	}
	return NULL;
}

/* Formats a choice such as "--tree, --callgraph or --by". */
static void put_choice(char *out, size_t room, const char *names)
{
	size_t used = 0;

	out[0] = '\0';
	while (*names && used < room) {
		size_t len = strcspn(names, " ");
		const char *next = names + len + strspn(names + len, " ");
		const char *joint = !*next ? "" : strchr(next, ' ') ? ", " : " or ";

		used += (size_t)snprintf(out + used, room - used, "--%.*s%s", (int)len,
					 names, joint);
		names = next;
	}
}

static int options_check_given(const struct parser *p, struct options_given g,
			       struct err *err)
{
	const struct option_row *row = g.row;
	const struct option_row *other =
		row->not_with ? options_given_of(p, g.rows, row->not_with) : NULL;
	char choice[ERR_TEXT_MAX / 2];

	if (other)
		return err_set(err, -EINVAL, "--%s is incompatible with --%s%s%s",
			       row->name, other->name, row->instead ? ": give " : "",
			       row->instead ? row->instead : "");
	if (!row->only_with || options_given_of(p, g.rows, row->only_with))
		return 0;
	put_choice(choice, sizeof(choice), row->only_with);
	return err_set(err, -EINVAL, "--%s is meaningless without %s", row->name,
		       choice);
}

static int options_check_together(const struct parser *p, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < p->given.nr; i++)
		r = options_check_given(p, p->given.at[i], err);
	return r;
}

int options_parse(const struct options_table *tables, size_t nr_tables,
		  enum options_order order, struct words *words, struct err *err)
{
	struct parser p = { .tables = tables, .nr_tables = nr_tables };
	int r;

	if (options_build(&p, order))
		r = options_parse_words(&p, words->argc, words->argv, err);
	else
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r)
		r = options_check_together(&p, err);
	if (!r)
		words->first = optind;
	vec_done(&p.given);
	vec_done(&p.longs);
	vec_done(&p.letters);
	return r;
}
