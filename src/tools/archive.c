/* SPDX-License-Identifier: GPL-2.0-or-later */
/* archive.c - `oprofile archive`, oparchive: stores a recording with all files that its reports
 * read, as a directory or as one file, for use on another machine. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/make/collect.h"
#include "archive/make/make.h"
#include "archive/make/perf.h"
#include "archive/read/open.h"
#include "archive/read/unpack.h"
#include "archive/read/verify.h"
#include "base/err.h"
#include "format/archive/layout.h"
#include "present/lines/screen.h"
#include "recordings/debug_dir.h"
#include "recordings/sources.h"
#include "resolve/find/index_cache.h"
#include "tools/cli/command.h"
#include "tools/cli/mistaken_word.h"
#include "tools/cli/recording_options.h"

enum {
	STATUS_INCOMPLETE = 3
};

extern const struct command command_archive;

struct archive_settings {
	const char *folder;
	const char *file;
	bool list_files;
	bool exclude_dependent;
	bool no_debug_files;
	bool whole_binaries;
	bool source_files;
	const char *search_dirs;
	const char *base_dirs;
	bool perf;
	bool all;
	bool unpack;
	bool verify;
	bool force;
	const char *session_dir;
	struct location_options locations;
};

static const struct option_row rows[] = {
	{ .name = "output-directory",
	  .letter = 'o',
	  .kind = OPTION_TEXT,
	  .value = "DIR",
	  .offset = OPTION(struct archive_settings, folder),
	  .help = "Create the archive as this directory. Existing files are overwritten, never removed." },
	{ .name = "output",
	  .kind = OPTION_TEXT,
	  .value = "NAME.oparchive",
	  .offset = OPTION(struct archive_settings, file),
	  .help = "Write the archive as one file (tar compressed with zstd). With --perf or --unpack: use this name." },
	{ .name = "sources",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct archive_settings, source_files),
	  .help = "Include the sources of the lines that were hit, if debug information names them." },
	{ .name = "search-dirs",
	  .kind = OPTION_TEXT,
	  .value = "DIR[,DIR...]",
	  .offset = OPTION(struct archive_settings, search_dirs),
	  .help = "With --sources: also search these directories, by the path without --base-dirs, then by its longest existing end." },
	{ .name = "base-dirs",
	  .kind = OPTION_TEXT,
	  .value = "DIR[,DIR...]",
	  .offset = OPTION(struct archive_settings, base_dirs),
	  .help = "Remove these prefixes from source paths for --search-dirs." },
	{ .name = "perf",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct archive_settings, perf),
	  .help = "Write only the binaries, like `perf archive`: perf.data.tar.bz2, for ~/.debug of another machine. With --output NAME.tar.zst: compress with zstd." },
	{ .name = "all",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct archive_settings, all),
	  .help = "With --perf: include the perf.data file (perf.all-HOST-DATE.tar.bz2)." },
	{ .name = "unpack",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct archive_settings, unpack),
	  .help = "Unpack FILE, written by --perf or `perf archive`: binaries to ~/.debug ($PERF_BUILDID_DIR), a perf.data file to this directory. Default: the only perf*.tar.bz2 here." },
	{ .name = "list-files",
	  .letter = 'l',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct archive_settings, list_files),
	  .help = "Only list the files to archive." },
	{ .name = "exclude-dependent",
	  .letter = 'x',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct archive_settings, exclude_dependent),
	  .help = "Include only main programs and the kernel, no libraries." },
	{ .name = "no-debug-files",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct archive_settings, no_debug_files),
	  .help = "Leave out separate debug files: a smaller archive with fewer names." },
	{ .name = "whole-binaries",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct archive_settings, whole_binaries),
	  .help = "With --output: include complete binaries, not only the code that was hit." },
	{ .name = "verify",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct archive_settings, verify),
	  .help = "Compare each file of an archive with its checksum. Reports only do this for NAME.oparchive, not for directories." },
	SESSION_DIR_OPTION_ROW(struct archive_settings),
	FORCE_OPTION_ROW(struct archive_settings, 0),
	LOCATION_OPTION_ROWS(struct archive_settings),
	{ 0 },
};

static void archive_list(const char *path)
{
	screen_print_line(stdout, "%s", path);
}

static bool is_only_slashes(const char *path)
{
	return path[0] && !path[strspn(path, "/")];
}

/* Checks options that `perf archive` mode does not support. */
static int check_perf(const struct archive_settings *set, struct err *err)
{
	if (set->all && !set->perf)
		return err_set(err, -EINVAL, "--all requires --perf");
	if (set->perf && set->unpack)
		return err_set(err, -EINVAL, "--perf cannot be combined with --unpack");
	if (set->folder)
		return err_set(err, -EINVAL,
			       "%s cannot be combined with --output-directory",
			       set->perf ? "--perf" : "--unpack");
	if (set->source_files)
		return err_set(err, -EINVAL, "%s cannot be combined with --sources",
			       set->perf ? "--perf" : "--unpack");
	if (set->unpack && set->list_files)
		return err_set(err, -EINVAL,
			       "--unpack cannot be combined with --list-files");
	return 0;
}

static int archive_check(const struct archive_settings *set, struct err *err)
{
	if (set->verify)
		return set->perf || set->unpack || set->file || set->folder
			       ? err_set(err, -EINVAL,
					 "--verify cannot be combined with other options")
			       : 0;
	if (set->perf || set->all || set->unpack)
		return check_perf(set, err);
	if (set->folder && set->file)
		return err_set(err, -EINVAL,
			       "--output-directory cannot be combined with --output");
	if (!set->folder && !set->file && !set->list_files)
		return err_set(
			err, -EINVAL,
			"Requires --output-directory option (or --output NAME.oparchive).");
	if (set->folder && is_only_slashes(set->folder))
		return err_set(err, -EINVAL, "Invalid --output-directory: %s",
			       set->folder);
	if (!set->source_files && (set->search_dirs || set->base_dirs))
		return err_set(err, -EINVAL, "%s requires --sources",
			       set->search_dirs ? "--search-dirs" : "--base-dirs");
	if (set->base_dirs && !set->search_dirs)
		return err_set(err, -EINVAL, "--base-dirs requires --search-dirs");
	return 0;
}

/* Prints where the recordings are, in OProfile's words, which scripts and users know. */
static void say_where(const struct report_sources *sources)
{
	if (!sources->samples_dir || !strcmp(sources->samples_dir, "/" ARCHIVE_SAMPLES))
		return;
	screen_print_line(stderr, "Using %s/ for session-dir", sources->samples_dir);
	screen_print_line(stderr,
			  "NOTE: The sample data in this archive is located at %s",
			  sources->samples_dir);
	fputs("and is being moved to the standard location of /var/lib/oprofile/.\n",
	      stderr);
}

static int write_archive(const struct archive_settings *set,
			 struct archive_request *request, struct err *err)
{
	char *written = NULL;
	int r;

	if (set->list_files)
		return archive_collect(request, err);
	if (!set->perf)
		return archive_make(request, set->folder ? set->folder : set->file,
				    set->folder ? ARCHIVE_FOLDER : ARCHIVE_FILE, err);
	r = archive_perf(request, set->file, set->all, &written, err);
	if (r >= 0)
		screen_print_line(stdout, "%s", written);
	free(written);
	return r;
}

static int archive_write_words(const struct archive_settings *set, char *const *words,
			       struct err *err)
{
	struct report_sources sources = { .trust = report_trust(set->force),
					  .root = set->locations.root };
	struct spec spec = { 0 };
	char *index_cache = set->source_files ? index_cache_dir() : NULL;
	struct archive_request request = {
		.sources = &sources,
		.spec = &spec,
		.exclude_dependent = set->exclude_dependent,
		.no_debug_files = set->no_debug_files,
		.whole_binaries = set->whole_binaries || set->folder,
		.source_files = set->source_files,
		.index_cache = index_cache,
		.search_dirs = set->search_dirs,
		.base_dirs = set->base_dirs,
		.for_perf = set->perf,
		.list = archive_list,
	};
	int r = report_sources_find(set->session_dir, words, &spec, &sources, err);

	if (!r) {
		if (!set->perf)
			say_where(&sources);
		request.locations = set->locations;
		request.locations.archive = archive_folder(sources.archive);
		r = write_archive(set, &request, err);
	}
	mistaken_word_say(&sources, &spec, r);
	report_sources_done(&sources);
	spec_done(&spec);
	free(index_cache);
	return r;
}

static int archive_unpack_words(const struct archive_settings *set, char *const *words,
				struct err *err)
{
	struct archive_unpack_request request = { .path = words[0],
						  .trust = report_trust(set->force),
						  .perf_data = set->file };
	struct archive_unpacked done = { 0 };
	char *cache;
	int r;

	if (words[0] && words[1])
		return err_set(err, -EINVAL, "'%s': give only one file", words[1]);
	cache = debug_dir();
	if (!cache)
		return err_set(
			err, -EINVAL,
			"there is no cache: set PERF_BUILDID_DIR to a directory that only you can change");
	request.cache = cache;
	r = archive_unpack(&request, &done, err);
	if (!r) {
		screen_print_line(stdout, "%zu files in %s", done.nr_files, cache);
		if (done.perf_data)
			screen_print_line(stdout, "the recording: %s", done.perf_data);
	}
	free(done.perf_data);
	free(cache);
	return r ? r : done.nr_refused != 0;
}

static int verify(const struct archive_settings *set, char *const *words,
		  struct err *err)
{
	struct archive_verified found = { 0 };
	int r;

	if (!words[0] || words[1])
		return err_set(err, -EINVAL, "--verify requires exactly one archive");
	r = archive_verify(report_source_archive(words[0]), report_trust(set->force),
			   &found, err);
	if (!r)
		printf("%zu files, %zu of them damaged or missing\n", found.nr_files,
		       found.nr_bad);
	return r ? r : found.nr_bad != 0;
}

static int archive_work(const struct archive_settings *set, char *const *words,
			struct err *err)
{
	int r = archive_check(set, err);

	if (r)
		return r;
	if (set->verify)
		return verify(set, words, err);
	return set->unpack ? archive_unpack_words(set, words, err)
			   : archive_write_words(set, words, err);
}

static int archive_run(const struct command *self, int argc, char **argv)
{
	struct archive_settings set = { 0 };
	struct err err = { 0 };
	int first;
	int status = command_options(self, OPTIONS_PERMUTE, argc, argv, &set, &first);

	if (status >= 0)
		return status;
	status = archive_work(&set, argv + first, &err);
	if (status < 0) {
		command_error("%s", err.text);
		return 1;
	}
	return status ? STATUS_INCOMPLETE : 0;
}

const struct command command_archive = {
	.name = "archive",
	.classic = "oparchive",
	.summary = "pack a recording and its binaries for another machine",
	.usage = "[options] [SESSION-DIR | perf.data | profile specification...]\n"
		 "--unpack [FILE]\n"
		 "--verify archive:PATH",
	.notes =
		"On the other machine: opreport archive:DIR, or archive:NAME.oparchive. "
		"With a profile specification, the archive contains only the selected samples, and the files that they need.\n"
		"Examples:\n"
		"  oparchive --output make.oparchive\n"
		"  oparchive --output-directory /tmp/run1 image:/usr/bin/make\n"
		"  oparchive --list-files perf.data\n"
		"  oparchive --perf perf.data         then, elsewhere: "
		"oparchive --unpack",
	.options = rows,
	.run = archive_run,
};
