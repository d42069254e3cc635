/* SPDX-License-Identifier: GPL-2.0-or-later */
/* merge.c - `oprofile merge`: makes one session of several recordings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/selection/spec.h"
#include "base/comma.h"
#include "base/containers/vec.h"
#include "base/err.h"
#include "base/parse.h"
#include "recordings/locations.h"
#include "recordings/session_merge.h"
#include "recordings/sources.h"
#include "recordings/word_fault.h"
#include "resolve/symbolize/naming.h"
#include "tools/cli/command.h"
#include "tools/cli/recording_options.h"

enum {
	STATUS_INCOMPLETE = 3
};

static const double weight_most = 1000, weight_least = 1e-6;

extern const struct command command_merge;

struct merge_options {
	const char *output;
	struct word_list weights;
	bool average;
	bool force;
	const char *session_dir;
	struct location_options locations;
};

struct merge_work {
	struct merge_options options;
	VEC(double) weights;
	struct session_merge *merge;
	struct session_merge_result result;
	bool is_private;
};

static const struct option_row rows[] = {
	{ .name = "output",
	  .letter = 'o',
	  .kind = OPTION_TEXT,
	  .value = "DIR",
	  .offset = OPTION(struct merge_options, output),
	  .help = "Create this session directory, which must not exist." },
	{ .name = "weight",
	  .kind = OPTION_LIST,
	  .value = "W[,W...]",
	  .offset = OPTION(struct merge_options, weights),
	  .help = "Multiply the samples of each recording: one number for all, or one for each in their order. Example: --weight 1,10 if the second host is one of ten." },
	{ .name = "average",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct merge_options, average),
	  .help = "Divide by the sum of the weights; without --weight, by the number of recordings." },
	SESSION_DIR_OPTION_ROW(struct merge_options),
	FORCE_OPTION_ROW(struct merge_options, 0),
	LOCATION_OPTION_ROWS(struct merge_options),
	{ 0 },
};

/* Parses the numbers of all --weight options. */
static int parse_weights(struct merge_work *m, struct err *err)
{
	const struct word_list *lists = &m->options.weights;

	for (size_t i = 0; i < lists->values.nr; i++) {
		for (const char *list = lists->values.at[i]; list;) {
			char *word = comma_next(&list);
			double weight;
			int r = 0;

			if (!word)
				return err_set(err, -ENOMEM, "out of memory");
			if (!parse_double(word, &weight) || weight < weight_least ||
			    weight > weight_most)
				r = err_set(
					err, -EINVAL,
					"--weight: illegal value '%s': give a number from %g to %g",
					word, weight_least, weight_most);
			else if (!vec_push(&m->weights, weight))
				r = err_set(err, -ENOMEM, "out of memory");
			free(word);
			if (r)
				return r;
		}
	}
	return 0;
}

/* Makes a weight for each of `nr` recordings. */
static int make_weights(struct merge_work *m, size_t nr, struct err *err)
{
	double sum = 0, usual;
	int r = parse_weights(m, err);

	if (!r && m->weights.nr > 1 && m->weights.nr != nr)
		r = err_set(
			err, -EINVAL,
			"--weight: %zu weights for %zu recordings: give one, or one for each",
			m->weights.nr, nr);
	usual = m->weights.nr ? m->weights.at[0] : 1;
	while (!r && m->weights.nr < nr)
		if (!vec_push(&m->weights, usual))
			r = err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; !r && i < nr; i++)
		sum += m->weights.at[i];
	for (size_t i = 0; !r && m->options.average && i < nr; i++)
		m->weights.at[i] /= sum;
	return r;
}

static int merge_find(const struct merge_work *m, char *word,
		      struct report_sources *sources, struct err *err)
{
	static const char tag[] = "session:";
	char *const words[] = { word, NULL };
	struct spec spec = { 0 };
	int r;

	if (!report_source_is(word) && strncmp(word, tag, sizeof(tag) - 1) != 0)
		return word_fault(word, true, err)
			       ? err->code
			       : err_set(err, -ENOENT, "'%s' is not a recording", word);
	sources->trust = report_trust(m->options.force);
	sources->root = m->options.locations.root;
	r = report_sources_find(m->options.session_dir, words, &spec, sources, err);
	spec_done(&spec);
	return r;
}

static int merge_word(struct merge_work *m, char *word, double weight, struct err *err)
{
	struct report_sources sources = { 0 };
	struct session_merge_input input = { .name = word,
					     .sources = &sources,
					     .weight = weight };
	int r = merge_find(m, word, &sources, err);

	if (!r)
		r = locations_make(&m->options.locations, &input.locations, err);
	if (!r)
		r = session_merge_add(m->merge, &input, &m->result, err);
	m->is_private |= sources.is_private;
	naming_locations_free(input.locations);
	report_sources_done(&sources);
	return r;
}

static int merge_words(struct merge_work *m, char *const *words, struct err *err)
{
	size_t nr = 0;
	int r;

	while (words[nr])
		nr++;
	if (!nr)
		return err_set(err, -EINVAL, "no recording given");
	if (!m->options.output)
		return err_set(err, -EINVAL,
			       "no output given: name a new directory with -o");
	r = make_weights(m, nr, err);
	if (!r)
		r = session_merge_new(m->options.output, &m->merge, err);
	for (size_t i = 0; !r && i < nr; i++)
		r = merge_word(m, words[i], m->weights.at[i], err);
	if (!r && !m->result.samples)
		r = err_set(err, -ENODATA, "the recordings have no samples%s",
			    m->result.samples_read ? " left with these weights" : "");
	return r ? r : session_merge_commit(m->merge, m->is_private, err);
}

static int merge_command(const struct command *self, int argc, char **argv)
{
	struct merge_work m = { 0 };
	struct err err = { 0 };
	int first;
	int status;

	status = command_options(self, OPTIONS_PERMUTE, argc, argv, &m.options, &first);
	if (status < 0) {
		status = merge_words(&m, argv + first, &err) ? 1 : 0;
		if (status)
			command_error("%s", err.text);
		else if (m.result.incomplete)
			status = STATUS_INCOMPLETE;
	}
	session_merge_free(m.merge);
	vec_done(&m.options.weights.values);
	vec_done(&m.weights);
	return status;
}

const struct command command_merge = {
	.name = "merge",
	.summary = "make one session of recordings of several hosts, days or runs",
	.usage = "[options] RECORDING... -o DIR",
	.notes =
		"A RECORDING is a session directory, session:NAME, an archive, a perf.data file or a profile of another tool.\n"
		"Examples:\n"
		"  oprofile merge monday/ tuesday/ -o week\n"
		"  oprofile merge web1.oparchive web2.oparchive perf.data -o fleet\n"
		"  oprofile merge --average run1 run2 run3 -o mean",
	.options = rows,
	.run = merge_command,
};
