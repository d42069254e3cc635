/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/annotate/options.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/comma.h"
#include "base/err.h"
#include "recordings/sources.h"

const struct option_row annotate_rows[] = {
	{ .name = "source",
	  .letter = 's',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct annotate_options, source),
	  .help = "Print sources with the number of samples before each line." },
	{ .name = "assembly",
	  .letter = 'a',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct annotate_options, assembly),
	  .help = "Print functions as machine instructions with the number of samples before each." },
	{ .name = "output-dir",
	  .letter = 'o',
	  .kind = OPTION_TEXT,
	  .value = "DIR",
	  .offset = OPTION(struct annotate_options, output_dir),
	  .not_with = "assembly html json hottest",
	  .help = "Write one file per source below DIR, under its full path, instead of to the standard output." },
	{ .name = "search-dirs",
	  .letter = 'd',
	  .kind = OPTION_TEXT,
	  .value = "DIR[,DIR...]",
	  .offset = OPTION(struct annotate_options, search_dirs),
	  .help = "Also search for sources below these directories." },
	{ .name = "source-dir", .alias_of = "search-dirs" },
	{ .name = "base-dirs",
	  .letter = 'b',
	  .kind = OPTION_TEXT,
	  .value = "DIR[,DIR...]",
	  .offset = OPTION(struct annotate_options, base_dirs),
	  .help = "With --search-dirs: remove these prefixes from recorded paths." },
	{ .name = "include-file",
	  .kind = OPTION_LIST,
	  .value = "GLOB[,GLOB...]",
	  .offset = OPTION(struct annotate_options, include_files),
	  .help = "Only show sources whose name or directory matches." },
	{ .name = "exclude-file",
	  .kind = OPTION_LIST,
	  .value = "GLOB[,GLOB...]",
	  .offset = OPTION(struct annotate_options, exclude_files),
	  .help = "Hide sources whose name or directory matches." },
	REPORT_THRESHOLD_ROW(
		"Hide sources, or functions, with a smaller share. The other shares do not change."),
	REPORT_RATIO_ROW,
	{ .name = "top",
	  .kind = OPTION_COUNT,
	  .value = "N",
	  .not_zero = true,
	  .offset = OPTION(struct annotate_options, top),
	  .help = "Only show the N functions with the most samples." },
	{ .name = "hottest",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct annotate_options, hottest),
	  .help = "Only show the line or instruction with the most samples, and its context." },
	{ .name = "context",
	  .kind = OPTION_COUNT,
	  .value = "N",
	  .offset = OPTION(struct annotate_options, context),
	  .help = "Only show lines with samples, first lines of functions, and N lines around each (with --hottest: default 10)." },
	{ .name = "inline-sites",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct annotate_options, inline_sites),
	  .help = "Also show where functions were inlined, with the samples of each call site." },
	{ .name = "objdump-params",
	  .kind = OPTION_TEXT,
	  .value = "PARAMS",
	  .offset = OPTION(struct annotate_options, objdump_params),
	  .not_with = "hottest context",
	  .only_with = "assembly",
	  .help = "With --assembly: let objdump print the code with these parameters, separated by blanks." },
	{ .name = "html",
	  .kind = OPTION_TEXT,
	  .value = "DIR",
	  .offset = OPTION(struct annotate_options, html),
	  .not_with = "json hottest context objdump-params",
	  .help = "Write a directory of linked pages for a browser: an index by heat, all sources, and the instructions of each function." },
	{ .name = "json",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct annotate_options, json),
	  .not_with = "hottest context objdump-params",
	  .help = "Print sources, instructions (--assembly), or both as JSON." },
	REPORT_NAME_ROWS,
	REPORT_MERGE_ROW(
		"Merge what the recording separates: cpu, tid, tgid (and tid), unitmask, core (kinds of cores), or all. "
		"Programs that use a library are always merged."),
	REPORT_READ_ROWS,
	{ 0 },
};

static bool annotate_options_matches(const char *glob, const char *path)
{
	for (const char *at = path; *at;) {
		size_t len = strcspn(at, "/");
		char *part = strndup(at, len);
		bool is_match = part && !fnmatch(glob, part, 0);

		free(part);
		if (is_match)
			return true;
		at += len + (at[len] == '/');
	}
	return false;
}

static bool matches_any(const struct word_list *lists, const char *path)
{
	for (size_t i = 0; i < lists->values.nr; i++) {
		const char *list = lists->values.at[i];

		while (list) {
			char *glob = comma_next(&list);
			bool is_match = glob && (annotate_options_matches(glob, path) ||
						 !strcmp(glob, path));

			free(glob);
			if (is_match)
				return true;
		}
	}
	return false;
}

bool annotate_wants_file(const struct annotate_options *o, const char *path)
{
	if (matches_any(&o->exclude_files, path))
		return false;
	return !o->include_files.values.nr || matches_any(&o->include_files, path);
}

/* Selects both sources and code for a page, and for JSON unless the user selected one of them. */
static void choose_both(struct annotate_options *o)
{
	if (o->html || (o->json && !o->source && !o->assembly))
		o->source = o->assembly = true;
	o->both = (o->html || o->json) && o->source && o->assembly;
}

int annotate_options_check(struct annotate_options *o, struct err *err)
{
	choose_both(o);
	if (!o->source && !o->assembly)
		return err_set(err, -EINVAL,
			       "you must specify at least --source or --assembly");
	if (o->assembly && !o->both &&
	    (o->include_files.values.nr || o->exclude_files.values.nr))
		return err_set(
			err, -EINVAL,
			"--exclude[include]-file options not supported with --assembly");
	if (o->base_dirs && !o->search_dirs)
		return err_set(
			err, -EINVAL,
			"--base-dirs is useless unless you specify an alternative source location with --search-dirs");
	if (o->context > ANNOTATE_CONTEXT_OFF)
		return err_set(err, -EINVAL, "--context: value too large");
	return 0;
}
