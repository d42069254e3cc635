/* SPDX-License-Identifier: GPL-2.0-or-later */
/* import.c - `oprofile import`: converts recordings of other tools into a session. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggregate/selection/spec.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/files/output.h"
#include "base/files/path.h"
#include "format/session/checksums.h"
#include "format/session/session.h"
#include "import/file.h"
#include "import/foreign.h"
#include "import/odb_convert.h"
#include "import/odb_tree.h"
#include "present/lines/screen.h"
#include "record/keep/session_dir.h"
#include "recordings/locations.h"
#include "recordings/sources.h"
#include "recordings/word_fault.h"
#include "resolve/symbolize/naming.h"
#include "tools/cli/command.h"
#include "tools/cli/mistaken_word.h"
#include "tools/cli/recording_options.h"

enum {
	STATUS_INCOMPLETE = 3
};

extern const struct command command_import;

struct import_options {
	const char *session_dir;
	const char *name;
	bool force;
	bool verbose;
	const char *abi;
	const char *output;
	struct location_options locations;
};

struct import_run {
	struct import_options options;
	struct spec spec;
	struct report_sources sources;
	struct session_dir dir;
	struct naming_locations *locations;
	char *named; /* DIR/samples/NAME, NULL: import as the current session */
	uint64_t samples;
	uint64_t skipped;
	bool incomplete;
};

static const struct option_row rows[] = {
	{ .name = "session-dir",
	  .kind = OPTION_TEXT,
	  .value = "DIR",
	  .offset = OPTION(struct import_options, session_dir),
	  .help = "Store the session below samples/ in this existing directory (default: ./oprofile_data, created if needed)." },
	{ .name = "name",
	  .kind = OPTION_TEXT,
	  .value = "NAME",
	  .offset = OPTION(struct import_options, name),
	  .help = "Create the session samples/NAME, for session:NAME. Default: the current session; the old one becomes the previous session." },
	{ .name = "force",
	  .letter = 'f',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct import_options, force),
	  .help = "Replace an existing session, and read files that belong to other users." },
	LOCATION_OPTION_ROWS(struct import_options),
	{ .name = "verbose",
	  .letter = 'V',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct import_options, verbose),
	  .help = "Print the result for each file." },
	{ .name = "abi",
	  .letter = 'a',
	  .kind = OPTION_TEXT,
	  .value = "FILE",
	  .offset = OPTION(struct import_options, abi),
	  .help = "With --output: the abi file of the machine that wrote the sample file (default: detect its layout)." },
	{ .name = "output",
	  .letter = 'o',
	  .kind = OPTION_TEXT,
	  .value = "FILE",
	  .offset = OPTION(struct import_options, output),
	  .help = "Convert one sample file of OProfile to this machine's layout and write it to FILE, instead of making a session." },
	{ 0 },
};

/* ---- destination ---- */

static int import_check_name(const char *name, struct err *err)
{
	if (!*name || name[0] == '.' || strchr(name, '/'))
		return err_set(
			err, -EINVAL,
			"--name: \"%s\" is not a session name (no slash, no leading dot)",
			name);
	if (!strcmp(name, "current") || !strcmp(name, "previous"))
		return err_set(err, -EINVAL,
			       "--name: %s is the default name: leave --name out",
			       name);
	return 0;
}

/* If the input is private, makes the new session readable only for its owner. The directories
 * above it keep their permissions. */
static int import_keep_private(const struct import_run *m, struct err *err)
{
	if (!m->sources.is_private)
		return 0;
	(void)umask(077);
	if (fchmodat(m->dir.samples_fd, path_base(m->dir.writing),
		     output_dir_mode(true), 0))
		return err_sys(err, -errno, "cannot change the mode of '%s'",
			       m->dir.writing);
	return 0;
}

static int import_open_dir(struct import_run *m, struct err *err)
{
	const char *name = m->options.name;
	int r = name ? import_check_name(name, err) : 0;

	if (r)
		return r;
	r = session_dir_open(m->options.session_dir, false, &m->dir, err);
	if (!r)
		r = import_keep_private(m, err);
	if (r || !name)
		return r;
	if (asprintf(&m->named, "%s/%s", m->dir.samples, name) < 0) {
		m->named = NULL;
		return err_set(err, -ENOMEM, "out of memory");
	}
	if (!access(m->named, F_OK) && !m->options.force)
		return err_set(err, -EEXIST,
			       "%s already exists: give --force to replace it",
			       m->named);
	return 0;
}

/* ---- the files ---- */

static int import_source(struct import_run *m, const struct report_session *source,
			 struct err *err)
{
	char *segment;
	struct import_request request = { .path = source->dir,
					  .trust = source->trust,
					  .jit_dir = m->dir.writing,
					  .spec = &m->spec,
					  .locations = m->locations };
	struct import_result result;
	struct stat st = { 0 };
	bool foreign;
	int r = session_next_path(m->dir.writing, &segment, err);

	if (r)
		return r;
	(void)checksums_begin(m->dir.writing);
	request.segment = segment;
	foreign = report_session_is_foreign(source);
	r = foreign ? import_of_other_tool(&request, &result, err)
		    : import_file(&request, &result, err);
	if (!r) {
		m->samples += result.samples;
		m->skipped += result.skipped;
		m->incomplete |= import_is_incomplete(&result);
		if (!foreign && import_is_incomplete(&result)) {
			import_say_incomplete(source->name, &result);
		}
		if (m->options.verbose && !stat(segment, &st))
			screen_print_line(stderr,
					  "%s: %" PRIu64 " samples, %" PRIu64
					  " not selected, %" PRIu64 " lost, %lld bytes",
					  source->name, result.samples, result.skipped,
					  result.lost, (long long)st.st_size);
	}
	free(segment);
	return r;
}

static int check_sources(const struct import_run *m, char *const *words,
			 struct err *err)
{
	const struct report_sources *s = &m->sources;

	if (!s->sessions.nr && !*words)
		return err_set(
			err, -EINVAL,
			"no file given: give a perf.data file or a profile of another tool");
	if (!s->sessions.nr && word_fault(words[0], true, err))
		return err->code;
	if (!s->sessions.nr)
		return err_set(
			err, -ENOENT,
			"'%s' is neither a perf.data file nor a profile of another tool",
			words[0]);
	if (spec_has_symbols(&m->spec))
		return err_set(
			err, -EINVAL,
			"symbol: is not supported here: a session stores addresses; import it and select then");
	for (size_t i = 0; i < s->sessions.nr; i++)
		if (!s->sessions.at[i].perf_data)
			return err_set(err, -EINVAL, "%s is already a session",
				       s->sessions.at[i].name);
	return 0;
}

static int import_all(struct import_run *m, char *const *words, struct err *err)
{
	int r;

	m->sources.trust = report_trust(m->options.force);
	r = report_sources_sort(words, &m->spec, &m->sources, err);
	if (!r && !spec_follow_links(&m->spec, m->options.locations.root))
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r)
		r = check_sources(m, words, err);
	if (!r)
		r = locations_make(&m->options.locations, &m->locations, err);
	if (!r)
		r = import_open_dir(m, err);
	for (size_t i = 0; !r && i < m->sources.sessions.nr; i++)
		r = import_source(m, &m->sources.sessions.at[i], err);
	if (!r && !m->samples)
		r = err_set(err, -ENODATA,
			    "none of the %" PRIu64
			    " samples is selected: profile specification too strict ?",
			    m->skipped);
	if (m->sources.sessions.nr)
		mistaken_word_say(&m->sources, &m->spec, r);
	if (!r)
		r = m->named ? session_dir_commit_named(&m->dir, m->options.name, err)
			     : session_dir_commit(&m->dir, err);
	return r;
}

/* Converts a sample file, as OProfile's opimport does. */
static int import_convert(const struct import_options *o, char *const *words,
			  struct err *err)
{
	struct odb_conversion conversion = {
		.from = words[0], .abi = o->abi, .to = o->output, .force = o->force
	};

	if (!o->output)
		return err_set(err, -EINVAL, "--abi is meaningless without --output");
	if (!words[0] || words[1])
		return err_set(err, -EINVAL,
			       "error: must specify exactly 1 input file");
	return odb_convert(&conversion, err);
}

static int import_run(const struct command *self, int argc, char **argv)
{
	struct import_run m = { .dir = { .samples_fd = -1, .lock_fd = -1 } };
	struct err err = { 0 };
	int first;
	int status;

	status = command_options(self, OPTIONS_PERMUTE, argc, argv, &m.options, &first);
	if (status >= 0)
		return status;
	if (m.options.output || m.options.abi
		    ? import_convert(&m.options, argv + first, &err)
		    : import_all(&m, argv + first, &err)) {
		command_error("%s", err.text);
		status = 1;
	} else {
		status = m.incomplete ? STATUS_INCOMPLETE : 0;
	}
	session_dir_close(&m.dir);
	free(m.named);
	report_sources_done(&m.sources);
	naming_locations_free(m.locations);
	spec_done(&m.spec);
	return status;
}

const struct command command_import = {
	.name = "import",
	.classic = "opimport",
	.summary =
		"convert a recording of perf or a profile of another tool to a session",
	.usage = "[options] FILE... [profile specification...]",
	.notes =
		"FILE is a perf.data file or directory (perf record --threads), or - for the standard input.  "
		"Several files become one session.\n"
		"FILE can also be a profile of another tool: "
		"folded stacks (stackcollapse*.pl), pprof, text of perf script, JSON of\n"
		"speedscope, the Firefox Profiler, Node.js and Chrome, callgrind, simpleperf, JFR; or a session directory of OProfile.\n"
		"Examples:\n"
		"  oprofile import perf.data\n"
		"  oprofile import --name build perf.data.1 perf.data.2\n"
		"  oprofile import perf.data comm:make",
	.options = rows,
	.run = import_run,
};
