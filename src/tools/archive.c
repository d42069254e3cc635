/* archive.c - `oprofile archive`, oparchive: a recording together with all that its reports
 * read, as a folder or as one file, for a machine that has none of it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "tools/archive_collect.h"
#include "tools/archive_open.h"
#include "tools/archive_out.h"
#include "tools/command.h"
#include "tools/report_source.h"

enum {
	STATUS_INCOMPLETE = 3
};

extern const struct command command_archive;

struct settings {
	const char *folder;
	const char *file;
	bool list_files;
	bool exclude_dependent;
	bool no_debug_files;
	const char *session_dir;
	struct places_options places;
};

static const struct option_row rows[] = {
	{ .name = "output-directory",
	  .letter = 'o',
	  .kind = OPTION_TEXT,
	  .value = "DIR",
	  .offset = OPTION(struct settings, folder),
	  .help = "Put the archive into this folder, which is made. Files that are "
		  "there are overwritten, never removed." },
	{ .name = "output",
	  .kind = OPTION_TEXT,
	  .value = "NAME.oparchive",
	  .offset = OPTION(struct settings, file),
	  .help = "Write the archive as one file, a tar packed with zstd." },
	{ .name = "list-files",
	  .letter = 'l',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct settings, list_files),
	  .help = "Only list the files that would be archived." },
	{ .name = "exclude-dependent",
	  .letter = 'x',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct settings, exclude_dependent),
	  .help = "Of the binaries only the main programs and the kernel, no "
		  "libraries." },
	{ .name = "no-debug-files",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct settings, no_debug_files),
	  .help = "No separate debug files: smaller, with the names that the binaries "
		  "have themselves." },
	SESSION_DIR_OPTION_ROW(struct settings),
	PLACES_OPTION_ROWS(struct settings),
	{ 0 },
};

static void list(const char *path)
{
	puts(path);
}

static bool is_only_slashes(const char *path)
{
	return path[0] && !path[strspn(path, "/")];
}

static int check(const struct settings *set, struct err *err)
{
	if (set->folder && set->file)
		return err_set(
			err, -EINVAL,
			"--output-directory and --output: one archive at a time");
	if (!set->folder && !set->file && !set->list_files)
		return err_set(err, -EINVAL,
			       "Requires --output-directory option (or --output "
			       "NAME.oparchive).");
	if (set->folder && is_only_slashes(set->folder))
		return err_set(err, -EINVAL, "Invalid --output-directory: %s",
			       set->folder);
	return 0;
}

/* As OProfile says it: scripts and people know it. */
static void say_where(const struct report_sources *sources)
{
	if (!sources->samples_dir || !strcmp(sources->samples_dir, "/" ARCHIVE_SAMPLES))
		return;
	fprintf(stderr, "Using %s/ for session-dir\n", sources->samples_dir);
	fprintf(stderr,
		"NOTE: The sample data in this archive is located at %s\n"
		"and is being moved to the standard location of /var/lib/oprofile/.\n",
		sources->samples_dir);
}

static int write_archive(const struct settings *set, struct archive_request *request,
			 struct err *err)
{
	int r, incomplete;

	if (set->list_files)
		return archive_collect(request, err);
	r = archive_out_new(set->folder ? set->folder : set->file, set->folder,
			    &request->out, err);
	if (r)
		return r;
	incomplete = archive_collect(request, err);
	r = incomplete < 0 ? incomplete : archive_out_finish(request->out, err);
	archive_out_free(request->out);
	return r ? r : incomplete;
}

static int archive(const struct settings *set, char *const *words, struct err *err)
{
	struct report_sources sources = { 0 };
	struct spec spec = { 0 };
	struct archive_request request = {
		.sources = &sources,
		.spec = &spec,
		.exclude_dependent = set->exclude_dependent,
		.no_debug_files = set->no_debug_files,
		.list = list,
	};
	int r = check(set, err);

	if (!r)
		r = report_sources_find(set->session_dir, words, &spec, &sources, err);
	if (!r) {
		say_where(&sources);
		request.places = set->places;
		request.places.archive = archive_folder(sources.archive);
		r = write_archive(set, &request, err);
	}
	report_sources_done(&sources);
	spec_done(&spec);
	return r;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct settings set = { 0 };
	struct err err = { 0 };
	int first;
	int status = command_options(self, OPTIONS_PERMUTE, argc, argv, &set, &first);

	if (status >= 0)
		return status;
	status = archive(&set, argv + first, &err);
	if (status < 0) {
		command_error("%s", err.text);
		return 1;
	}
	return status ? STATUS_INCOMPLETE : 0;
}

const struct command command_archive = {
	.name = "archive",
	.classic = "oparchive",
	.summary = "put a recording and its binaries together, for another machine",
	.usage = "[options] [SESSION-DIR | perf.data | profile specification...]",
	.notes = "On the other machine: opreport archive:DIR, or "
		 "archive:NAME.oparchive. "
		 "image: and bare words choose among the binaries; the recording is "
		 "always whole.\n"
		 "Examples:\n"
		 "  oparchive --output make.oparchive\n"
		 "  oparchive --output-directory /tmp/run1 image:/usr/bin/make\n"
		 "  oparchive --list-files perf.data",
	.options = rows,
	.run = run,
};
