/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info.c - `oprofile info`: prints the metadata of a recording. */
#include "present/facts/info.h"
#include "recordings/facts/info.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "aggregate/selection/spec.h"
#include "base/err.h"
#include "recordings/sources.h"
#include "tools/cli/command.h"
#include "tools/cli/pager.h"
#include "tools/cli/recording_options.h"

enum {
	STATUS_INCOMPLETE = 3
};

extern const struct command command_info;

struct info_settings {
	const char *session_dir;
	bool json;
	bool force;
};

struct all {
	struct info_settings set;
	VEC(struct info) infos;
};

static const struct option_row rows[] = {
	SESSION_DIR_OPTION_ROW(struct info_settings),
	{ .name = "json",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct info_settings, json),
	  .help = "Print JSON." },
	FORCE_OPTION_ROW(struct info_settings, 0),
	{ 0 },
};

/* Reads the metadata of a recording. `archive` is the argument that named the archive which
 * contains it, or NULL. */
static int read_source(struct all *all, const struct report_session *from,
		       const char *archive, struct err *err)
{
	struct info info = { .path = from->perf_data ? from->dir : from->name,
			     .trust = from->trust };
	int r;

	if (archive && asprintf(&info.name, "%s session:%s", archive, from->name) < 0) {
		info.name = NULL;
		return err_set(err, -ENOMEM, "out of memory");
	}
	if (from->perf_data)
		r = info_read_perf_data(&info, err);
	else
		r = info_read_session(&info, from->dir, err);
	if (!r && vec_push(&all->infos, info))
		return 0;
	info_done(&info);
	return r ? r : err_set(err, -ENOMEM, "out of memory");
}

static int write_infos(FILE *out, void *ctx)
{
	const struct all *all = ctx;

	if (all->set.json)
		info_print_json(all->infos.at, all->infos.nr, out);
	for (size_t i = 0; i < all->infos.nr && !all->set.json; i++) {
		if (i)
			putc('\n', out);
		info_print_text(&all->infos.at[i], out);
	}
	return 0;
}

/* Prints all metadata. Names in it are untrusted, so control sequences are removed on a terminal.
 * Returns 1 on failure, else 0. */
static int info_show(struct all *all)
{
	const struct terminal_options options = { .no_pager = true };
	struct screen screen = { 0 };
	struct err err = { 0 };
	int r = terminal_screen(&options, true, &screen, &err);

	if (!r)
		r = pager_run(&options, &screen, write_infos, all);
	if (r)
		command_error("cannot write the result");
	return r != 0;
}

/* Reads the recording that an argument names (NULL: the last recording). An argument that names no
 * recording is an error here, and not a pattern for binaries. */
static int read_word(struct all *all, char *word, struct report_sources *sources,
		     struct err *err)
{
	struct report_session file = { .dir = word,
				       .name = word,
				       .perf_data = true,
				       .trust = report_trust(all->set.force) };
	char *const words[] = { word, NULL };
	bool archive = word && report_source_is_archive(word);
	struct spec spec = { 0 };
	struct stat st;
	int r;

	/* Read a file directly, because its reader gives the best error message. */
	if (word && !archive &&
	    (!strcmp(word, "-") || stat(word, &st) || !S_ISDIR(st.st_mode)))
		return read_source(all, &file, NULL, err);
	sources->trust = file.trust;
	r = report_sources_find(all->set.session_dir, words, &spec, sources, err);
	spec_done(&spec);
	/* report_sources_find() takes an argument that names no recording as a pattern, and then
	 * finds no session or another one. */
	if (word && !archive && r != -EPERM &&
	    (r || !report_session_is_of(&sources->sessions.at[0], word)))
		r = err_set(err, -ENOENT,
			    "'%s' contains neither a session nor a perf.data file",
			    word);
	for (size_t i = 0; !r && i < sources->sessions.nr; i++)
		r = read_source(all, &sources->sessions.at[i], archive ? word : NULL,
				err);
	return r;
}

static int status_of(const struct all *all)
{
	for (size_t i = 0; i < all->infos.nr; i++) {
		if (all->infos.at[i].incomplete)
			return STATUS_INCOMPLETE;
	}
	return 0;
}

static int run_words(struct all *all, char **words, size_t nr)
{
	/* Keep the sources until the output is written, because the metadata borrows their
	 * names. */
	struct report_sources *sources = calloc(nr, sizeof(*sources));
	struct err err = { 0 };
	bool failed = false;

	if (!sources) {
		command_error("out of memory");
		return 1;
	}
	for (size_t i = 0; i < nr; i++) {
		if (!read_word(all, words[i], &sources[i], &err))
			continue;
		command_error("%s", err.text);
		failed = true;
	}
	if (all->infos.nr)
		failed |= info_show(all);
	for (size_t i = 0; i < nr; i++)
		report_sources_done(&sources[i]);
	free(sources);
	return failed ? 1 : status_of(all);
}

static int info_run(const struct command *self, int argc, char **argv)
{
	struct all all = { 0 };
	int first;
	int status =
		command_options(self, OPTIONS_PERMUTE, argc, argv, &all.set, &first);

	if (status >= 0)
		return status;
	status = run_words(&all, argv + first,
			   first < argc ? (size_t)(argc - first) : 1);
	for (size_t i = 0; i < all.infos.nr; i++)
		info_done(&all.infos.at[i]);
	vec_done(&all.infos);
	return status;
}

const struct command command_info = {
	.name = "info",
	.summary = "show the machine, events and records of a recording",
	.usage = "[options] [FILE | DIRECTORY | -]...",
	.notes =
		"FILE is a perf.data file, DIRECTORY a recording of perf record --threads or a session, and - standard input. The default is the current session.",
	.options = rows,
	.run = info_run,
};
