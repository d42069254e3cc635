/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/selection/spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/comma.h"
#include "base/containers/closest_match.h"
#include "base/err.h"
#include "base/parse.h"

struct tag_row {
	const char *name;
	enum spec_tag list;  /* of available tags */
	const char *refusal; /* why it is unavailable, or NULL */
	const char *number;  /* description of its numeric values, or NULL */
	uint64_t max;
	bool negative; /* -1 represents "unknown" */
	bool all;      /* accepts `all`, OProfile's spelling of "no restriction" */
};

#define TEXT(tag, spelling)                                                            \
	{                                                                              \
		.name = (spelling), .list = (tag)                                      \
	}
#define ID(tag, spelling, what)                                                        \
	{                                                                              \
		.name = (spelling), .list = (tag), .number = (what), .max = INT32_MAX, \
		.negative = true, .all = true                                          \
	}
#define NUMBER(tag, spelling, what)                                                    \
	{                                                                              \
		.name = (spelling), .list = (tag), .number = (what),                   \
		.max = UINT64_MAX, .all = true                                         \
	}
#define REFUSED(spelling, why)                                                         \
	{                                                                              \
		.name = (spelling), .refusal = (why)                                   \
	}

static const struct tag_row tags[] = {
	TEXT(SPEC_IMAGE, "image"),
	TEXT(SPEC_IMAGE_EXCLUDE, "image-exclude"),
	TEXT(SPEC_LIB_IMAGE, "lib-image"),
	TEXT(SPEC_LIB_IMAGE_EXCLUDE, "lib-image-exclude"),
	TEXT(SPEC_SESSION, "session"),
	TEXT(SPEC_SESSION_EXCLUDE, "session-exclude"),
	{ .name = "event", .list = SPEC_EVENT, .all = true },
	NUMBER(SPEC_EVENT_COUNT, "count", "a count"),
	NUMBER(SPEC_UNIT_MASK, "unit-mask", "a unit mask"),
	TEXT(SPEC_COMM, "comm"),
	ID(SPEC_TGID, "tgid", "a process id"),
	ID(SPEC_TID, "tid", "a thread id"),
	ID(SPEC_CPU, "cpu", "the number of a CPU"),
	TEXT(SPEC_CGROUP, "cgroup"),
	TEXT(SPEC_SYMBOL, "symbol"),
	TEXT(SPEC_SYMBOL_EXCLUDE, "symbol-exclude"),
	{ .name = "time", .list = SPEC_TIME, .all = true },
	REFUSED("archive", "is not supported here"),
	REFUSED("pid", "is called tgid: here"),
	REFUSED("binary", "is gone since OProfile 0.7: use image:"),
	REFUSED("sample-file", "is gone since OProfile 0.7: use session: and image:"),
};

enum {
	NR_TAGS = COUNT_OF(tags)
};

/* Returns the length of the tag before a colon, or 0 for a bare argument. */
static size_t tag_length(const char *word)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
	size_t len = strspn(word, letters);

	return word[len] == ':' ? len : 0;
}

/* Returns the closest match for a mistyped tag, ignoring case, or NULL. */
static const char *closest_tag(const char *word, size_t len)
{
	char name[CLOSEST_WORD_MAX];
	struct closest_match near = { .word = name };

	if (len >= sizeof(name))
		return NULL;
	for (size_t i = 0; i < len; i++)
		name[i] = (char)tolower((unsigned char)word[i]);
	name[len] = '\0';
	for (size_t i = 0; i < NR_TAGS; i++)
		closest_match_try(&near, tags[i].name);
	return near.best;
}

static int unknown_tag(const char *word, size_t len, struct err *err)
{
	const char *near = closest_tag(word, len);

	if (near)
		return err_set(
			err, -EINVAL,
			"unknown tag in profile specification '%s': did you mean '%s:'?",
			word, near);
	return err_set(
		err, -EINVAL,
		"unknown tag in profile specification '%s' (a file of that name is written image:./%s)",
		word, word);
}

static void list_clear(struct spec_list *list)
{
	for (size_t i = 0; i < list->values.nr; i++)
		free(list->values.at[i]);
	vec_done(&list->values);
	vec_done(&list->numbers);
}

static int list_push(struct spec_list *list, char *value)
{
	if (value && vec_push(&list->values, value))
		return 0;
	free(value);
	return -ENOMEM;
}

/* Adds the file that a relative path resolves to: the path also selects this file. */
static int push_resolved(struct spec_list *list, const char *value)
{
	char *path;

	if (value[0] == '/' || !strchr(value, '/'))
		return 0;
	path = realpath(value, NULL);
	return path ? list_push(list, path) : 0;
}

static int spec_list_fill(struct spec_list *list, enum spec_tag tag, const char *text)
{
	bool is_image = tag <= SPEC_LIB_IMAGE_EXCLUDE;

	while (text) {
		char *value = comma_next(&text);
		int r;

		if (value && !*value) {
			free(value);
			continue;
		}
		r = list_push(list, value);
		if (!r && is_image)
			r = push_resolved(list, value);
		if (r)
			return r;
	}
	return 0;
}

static bool is_all(const struct tag_row *row, const char *value)
{
	return row->all && !strcmp(value, "all");
}

static int parse_numbers(struct spec_list *list, const struct tag_row *row,
			 struct err *err)
{
	for (size_t i = 0; i < list->values.nr; i++) {
		const char *value = list->values.at[i];
		bool minus = row->negative && value[0] == '-';
		uint64_t number;

		if (is_all(row, value))
			continue;
		if (!parse_u64_max(value + minus, row->max, &number))
			return err_set(err, -EINVAL, "%s: '%s' is not %s", row->name,
				       value, row->number);
		if (!vec_push(&list->numbers, minus ? 0 - number : number))
			return err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

static int parse_spans(struct spec *spec, const struct tag_row *row, struct err *err)
{
	const struct spec_list *list = &spec->lists[row->list];

	vec_done(&spec->spans);
	for (size_t i = 0; i < list->values.nr; i++) {
		const char *value = list->values.at[i];
		struct spec_span span;

		if (is_all(row, value))
			continue;
		if (!spec_span_parse(value, &span))
			return err_set(
				err, -EINVAL,
				"%s: '%s' is not a span such as 10%%-20%%, 1.5s-3s, 2s- or 10%%/2",
				row->name, value);
		if (!vec_push(&spec->spans, span))
			return err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

static void lift_if_all(struct spec_list *list, const struct tag_row *row)
{
	for (size_t i = 0; i < list->values.nr; i++) {
		if (is_all(row, list->values.at[i])) {
			list_clear(list);
			return;
		}
	}
}

/* Stores the argument.  Fails if it was already given. */
static int keep_word(struct spec *spec, const char *word, const char **ret_kept,
		     struct err *err)
{
	char *kept;

	for (size_t i = 0; i < spec->words.nr; i++) {
		if (!strcmp(spec->words.at[i], word))
			return err_set(err, -EINVAL, "tag specified more than once: %s",
				       word);
	}
	kept = strdup(word);
	if (!kept || !vec_push(&spec->words, kept)) {
		free(kept);
		return err_set(err, -ENOMEM, "out of memory");
	}
	*ret_kept = kept;
	return 0;
}

static int add_tagged(struct spec *spec, const struct tag_row *row, const char *word,
		      struct err *err)
{
	struct spec_list *list = &spec->lists[row->list];
	int r;

	if (row->refusal)
		return err_set(err, -EINVAL, "profile specification '%s': %s: %s", word,
			       row->name, row->refusal);
	r = keep_word(spec, word, &list->text, err);
	if (r)
		return r;
	list_clear(list); /* the last value wins */
	if (spec_list_fill(list, row->list, strchr(word, ':') + 1))
		return err_set(err, -ENOMEM, "out of memory");
	if (!list->values.nr && row->list == SPEC_SESSION)
		return err_set(err, -EINVAL, "No session given after session:");
	if (!list->values.nr)
		return err_set(err, -EINVAL, "nothing given after %s:", row->name);
	if (row->number)
		r = parse_numbers(list, row, err);
	else if (row->list == SPEC_TIME)
		r = parse_spans(spec, row, err);
	if (!r)
		lift_if_all(list, row);
	if (!list->values.nr && row->list == SPEC_TIME)
		vec_done(&spec->spans);
	return r;
}

int spec_add(struct spec *spec, const char *word, struct err *err)
{
	size_t len = tag_length(word);

	if (!*word)
		return err_set(err, -EINVAL,
			       "empty argument in the profile specification");
	if (*word == '{' || !strcmp(word, "}"))
		return err_set(
			err, -EINVAL,
			"'%s': differential profiles ({ } { }) are not supported",
			word);
	if (!len) {
		if (spec_list_fill(&spec->lists[SPEC_ANY_IMAGE], SPEC_ANY_IMAGE, word))
			return err_set(err, -ENOMEM, "out of memory");
		return 0;
	}
	for (size_t i = 0; i < NR_TAGS; i++) {
		if (strlen(tags[i].name) == len && !strncmp(tags[i].name, word, len))
			return add_tagged(spec, &tags[i], word, err);
	}
	return unknown_tag(word, len, err);
}

void spec_done(struct spec *spec)
{
	for (size_t i = 0; i < SPEC_COUNT; i++) {
		list_clear(&spec->lists[i]);
		spec->lists[i].text = NULL;
	}
	for (size_t i = 0; i < spec->words.nr; i++)
		free(spec->words.at[i]);
	vec_done(&spec->words);
	vec_done(&spec->spans);
}
