/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/diff/sides.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "compare/history.h"
#include "recordings/sources.h"
#include "tools/diff/options.h"

static const char usage_hint[] =
	"give two recordings, or two lists of runs: oprofile diff BASE... -- NEW...";

int diff_sides_nr_after(int argc, char *const *argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--"))
			return argc - i - 1;
	}
	return -1;
}

void diff_sides_done(struct sorted_sides *s)
{
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		vec_done(&s->runs[side]);
	vec_done(&s->spec);
	recording_series_done(&s->series);
}

/* Returns whether the word is a recording: a file, directory or archive, or session:NAME. */
static bool is_recording_word(const char *word)
{
	return report_source_is(word) || report_source_is_archive(word) ||
	       !strncmp(word, "session:", strlen("session:"));
}

/* Returns whether the argument is part of a profile specification, such as comm:make. */
static bool is_specification(const char *word)
{
	size_t len = strspn(word, "abcdefghijklmnopqrstuvwxyz-");

	return len && word[len] == ':';
}

static int not_found(const char *word, struct err *err)
{
	return err_set(err, -ENOENT, "'%s': %s; to select a binary, use image:%s", word,
		       access(word, F_OK) ? strerror(errno) : "not a recording", word);
}

/* Adds an argument to a side or to the specification. `side` is COMPARE_SIDES if the argument must
 * not be a recording. */
static int sort_word(struct sorted_sides *s, enum compare_side side, const char *word,
		     struct err *err)
{
	bool added;

	if (!is_recording_word(word)) {
		if (!is_specification(word))
			return not_found(word, err);
		added = vec_push(&s->spec, word);
	} else {
		if (side == COMPARE_SIDES)
			return err_set(
				err, -EINVAL,
				"'%s': with --base and --new, give every recording by one of them",
				word);
		added = vec_push(&s->runs[side], word);
	}
	return added ? 0 : err_set(err, -ENOMEM, "out of memory");
}

static int sort_list(struct sorted_sides *s, enum compare_side side,
		     const struct word_list *list, struct err *err)
{
	for (size_t i = 0; i < list->values.nr; i++) {
		const char *word = list->values.at[i];

		if (!is_recording_word(word))
			return not_found(word, err);
		if (!vec_push(&s->runs[side], word))
			return err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

/* Returns the side of the next recording. Without "--", the first recording is the base and the
 * second one is new. */
static enum compare_side side_of(const struct sorted_sides *s, int nr_after, int left)
{
	if (nr_after >= 0)
		return left > nr_after ? SIDE_BASE : SIDE_NEW;
	return s->runs[SIDE_BASE].nr ? SIDE_NEW : SIDE_BASE;
}

static int check_sides(const struct sorted_sides *s, int nr_after, struct err *err)
{
	if (!s->runs[SIDE_BASE].nr && !s->runs[SIDE_NEW].nr)
		return err_set(err, -EINVAL, "no recordings: %s", usage_hint);
	if (!s->runs[SIDE_BASE].nr || !s->runs[SIDE_NEW].nr)
		return err_set(err, -EINVAL, "the %s side has no recording: %s",
			       s->runs[SIDE_BASE].nr ? "new" : "base", usage_hint);
	if (nr_after < 0 && s->runs[SIDE_NEW].nr > 1)
		return err_set(err, -EINVAL,
			       "%zu recordings, but no '--' between the sides: %s",
			       s->runs[SIDE_NEW].nr + 1, usage_hint);
	return 0;
}

/* Sorts the arguments of --history. All recordings of the series are on the new side; the
 * arguments only select samples. */
static int sort_series(struct sorted_sides *s, const char *dir, char *const *words,
		       struct err *err)
{
	int r = recording_series_find(dir, &s->series, err);

	for (size_t i = 0; !r && i < s->series.paths.nr; i++)
		if (!vec_push(&s->runs[SIDE_NEW], s->series.paths.at[i]))
			r = err_set(err, -ENOMEM, "out of memory");
	if (!r && s->series.paths.nr < HISTORY_RUNS)
		r = err_set(
			err, -EINVAL,
			"--history %s: found %zu recordings directly inside it, at least %d are needed",
			dir, s->series.paths.nr, HISTORY_RUNS);
	for (; !r && *words; words++) {
		if (!is_specification(*words))
			return err_set(
				err, -EINVAL,
				"'%s': --history compares only the recordings in its directory",
				*words);
		if (!vec_push(&s->spec, *words))
			r = err_set(err, -ENOMEM, "out of memory");
	}
	return r;
}

int diff_sides_sort(const struct diff_options *options, char *const *words,
		    int nr_after, struct sorted_sides *ret_sides, struct err *err)
{
	const bool listed = options->base.values.nr > 0;
	int left = 0, r;

	if (options->history)
		return sort_series(ret_sides, options->history, words, err);
	r = sort_list(ret_sides, SIDE_BASE, &options->base, err);

	if (!r)
		r = sort_list(ret_sides, SIDE_NEW, &options->new, err);
	while (words[left])
		left++;
	for (; !r && *words; words++, left--)
		r = sort_word(ret_sides,
			      listed ? COMPARE_SIDES
				     : side_of(ret_sides, nr_after, left),
			      *words, err);
	return r || listed ? r : check_sides(ret_sides, nr_after, err);
}
