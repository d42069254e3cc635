/* SPDX-License-Identifier: GPL-2.0-or-later */
/* where.c - `oprofile where`: prints each step of the search for a binary, with its result.
 * The steps come from the search that reports use. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/read/open.h"
#include "base/err.h"
#include "base/files/path.h"
#include "present/lines/screen.h"
#include "recordings/images.h"
#include "recordings/locations.h"
#include "recordings/sources.h"
#include "resolve/elf/build_id.h"
#include "resolve/find/debug_cache_store.h"
#include "resolve/symbolize/naming.h"
#include "resolve/symbols/symtab.h"
#include "tools/cli/command.h"
#include "tools/cli/recording_options.h"

enum {
	STATUS_INCOMPLETE = 3,
	HEX_BYTES = 2 * BUILD_ID_MAX + 1,
	STEP_WIDTH = 26
};

extern const struct command command_where;

struct where_settings {
	const char *session_dir;
	bool force;
	struct location_options locations;
};

struct where {
	struct where_settings set;
	const char *pattern;
	struct naming_locations *locations;
	unsigned int nr_found; /* number of images that match the pattern */
	unsigned int nr_named; /* number of matching images with symbols */
};

static const struct option_row rows[] = {
	SESSION_DIR_OPTION_ROW(struct where_settings),
	FORCE_OPTION_ROW(struct where_settings, 0),
	LOCATION_OPTION_ROWS(struct where_settings),
	{ 0 },
};

static const char *const outcomes[NAMING_STATUS_COUNT] = {
	[NAMING_OK] = "found",
	[NAMING_NO_SYMBOLS] = "found, without symbols",
	[NAMING_NO_FILE] = "not found",
	[NAMING_OTHER_FILE] = "another one (its build-id, or time and size, differ)",
	[NAMING_UNREADABLE] = "cannot be read, or is not an ELF file",
	[NAMING_AMBIGUOUS] = "several files have that name, and there is no build-id",
	[NAMING_UNVERIFIED] = "found, but there is no build-id to check it by",
	[NAMING_NO_KALLSYMS] = "no symbols of this kernel",
	[NAMING_FOREIGN] = "skipped: recorded on another machine, no build-id",
	[NAMING_UNKNOWN_HOST] = "skipped: recorded on an unknown machine, no build-id",
	[NAMING_NONE_EXPECTED] = "has no file",
};

static void where_tried(void *ctx, const char *step, const char *path,
			enum naming_status outcome)
{
	(void)ctx;
	printf("  %-*s ", STEP_WIDTH, step);
	screen_write_name(stdout, path ? path : "");
	printf("%s%s\n", path ? ": " : "", outcomes[outcome]);
}

/* Returns whether a pattern matches: it is a name, the last component of a name, a glob pattern for
 * either, or the first 4 or more digits of a build-id. */
static bool where_is_meant(const char *pattern, const char *name, const char *hex)
{
	size_t len = strlen(pattern);

	if (!strcmp(pattern, name) || !strcmp(pattern, path_base(name)) ||
	    !fnmatch(pattern, name, 0) || !fnmatch(pattern, path_base(name), 0))
		return true;
	return len >= 4 && strspn(pattern, "0123456789abcdef") == len &&
	       !strncmp(hex, pattern, len);
}

/* Runs the search for one image and prints the result. */
static void where_search(struct where *w, struct naming *n, uint32_t image)
{
	const struct symtab *tab = naming_symtab(n, image);
	const char *from;
	enum naming_status status = naming_status(n, image, &from);

	if (tab && symtab_count(tab)) {
		w->nr_named++;
		printf("  = %zu symbols from ", symtab_count(tab));
		screen_write_name(stdout, from);
		puts(status == NAMING_UNVERIFIED ? " (unverified)" : "");
	} else {
		printf("  = no symbols: %s\n", outcomes[status]);
	}
}

static void print_head(const char *name, const char *hex)
{
	screen_write_name(stdout, name);
	printf("%s%s\n", hex[0] ? "  build-id " : "  (no build-id)", hex);
}

static int where_look_at(void *ctx, const struct source_image *at)
{
	struct where *w = ctx;
	char hex[HEX_BYTES];
	struct naming *n;

	build_id_to_hex(&at->image->build_id, hex);
	if (!where_is_meant(w->pattern, at->name, hex) &&
	    strcmp(w->pattern, dict_str(at->dict, at->image->name)) != 0)
		return 0;
	if (naming_new(at->dict, at->info, at->session_dir, &n))
		return -ENOMEM;
	w->nr_found++;
	naming_use(n, w->locations);
	naming_recorded_in(n, at->recorded_in);
	print_head(at->name, hex);
	where_search(w, n, at->number);
	naming_free(n);
	return 0;
}

/* Runs the search for a build-id or a file that is in no recording. */
static int look_alone(struct where *w, const char *word, struct err *err)
{
	struct session_info info = { .hostname = "", .os_release = "", .vmlinux = "" };
	struct image image = { .kind = IMAGE_FILE };
	char *path = realpath(word, NULL);
	struct naming *n = NULL;
	char hex[HEX_BYTES];
	struct dict d;
	int r;

	if (path)
		(void)elf_build_id(path, &image.build_id, NULL);
	else if (!build_id_parse(word, &image.build_id))
		return err_set(
			err, -ENOENT,
			"'%s' is not a binary of the recording, a file or a build-id",
			word);
	r = dict_init(&d);
	if (!r) {
		image.name = dict_string(&d, path ? path : "");
		r = dict_image(&d, &image) == DICT_NONE ? -ENOMEM : 0;
		if (!r)
			r = naming_new(&d, &info, NULL, &n);
		if (!r) {
			w->nr_found++;
			naming_use(n, w->locations);
			build_id_to_hex(&image.build_id, hex);
			print_head(path ? path : "(any name)", hex);
			where_search(w, n, 0);
			naming_free(n);
		}
		dict_done(&d);
	}
	free(path);
	return r ? err_set(err, r, "out of memory") : 0;
}

static int where_make_locations(struct where *w, const struct report_sources *sources,
				struct err *err)
{
	static const struct naming_trace trace = { .tried = where_tried };
	struct location_options *from = &w->set.locations;

	from->archive = archive_folder(sources->archive);
	from->trace = &trace;
	return locations_make(from, &w->locations, err);
}

/* Searches for the pattern, which is the last argument, in the recordings that the arguments
 * before it name, or in the current session if there is one. */
static int look_in_recordings(struct where *w, char **words, size_t nr, struct err *err)
{
	struct report_sources sources = { .trust = report_trust(w->set.force) };
	struct spec spec = { 0 };
	char *last = words[nr];
	bool found;
	int r;

	words[nr] = NULL;
	r = source_images_find(w->set.session_dir, words, &spec, &sources, err);
	words[nr] = last;
	found = !r;
	if (!nr && r != -EPERM)
		r = 0; /* there may be no current session */
	if (!r)
		r = where_make_locations(w, &sources, err);
	if (!r && found)
		r = source_images_walk(&sources, where_look_at, w, err);
	report_sources_done(&sources);
	spec_done(&spec);
	return r;
}

/* Searches for the last argument in the recordings that the other arguments name. If no recording
 * contains it, searches for it as a build-id or a file. Returns an exit status. */
static int where_look(struct where *w, char **words, size_t nr)
{
	struct err err = { 0 };
	int r;

	w->pattern = words[nr];
	r = look_in_recordings(w, words, nr, &err);
	if (r >= 0 && !w->nr_found)
		r = look_alone(w, w->pattern, &err);
	if (r < 0)
		command_error("%s", err.text);
	naming_locations_free(w->locations);
	if (r < 0 || !w->nr_named)
		return 1;
	return r ? STATUS_INCOMPLETE : 0;
}

static int where_run(const struct command *self, int argc, char **argv)
{
	struct where w = { 0 };
	int first;
	int status = command_options(self, OPTIONS_PERMUTE, argc, argv, &w.set, &first);

	if (status >= 0)
		return status;
	if (first == argc) {
		command_error("no binary given: give its path, name or build-id");
		return 1;
	}
	return where_look(&w, argv + first, (size_t)(argc - 1 - first));
}

const struct command command_where = {
	.name = "where",
	.summary = "show where a binary's symbols come from",
	.usage = "[options] [perf.data | SESSION-DIR]... IMAGE | BUILD-ID",
	.notes =
		"IMAGE is a name as in reports, its last component, a pattern, or a file that no recording contains. The default recording is the current session. "
		"Exit status: 0 if symbols were found for one of the binaries, else 1.",
	.options = rows,
	.run = where_run,
};
