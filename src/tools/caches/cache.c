/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache.c - `oprofile cache`: manages the index files that speed up source lines. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/files/path.h"
#include "present/lines/screen.h"
#include "resolve/find/index_cache.h"
#include "resolve/lines/index_details.h"
#include "resolve/lines/lines.h"
#include "resolve/lines/writers.h"
#include "tools/caches/fill.h"
#include "tools/cli/command.h"

enum {
	KEY_SHOWN = 16, /* number of build-id digits that --list shows */
	DATE_BYTES = 32,
	MEGABYTE = 1 << 20
};

extern const struct command command_cache;

struct cache_settings {
	bool list;
	bool purge;
	bool build;
	bool size;
	bool background;
	uint64_t trim_mb;
	uint64_t threads;
};

static const struct option_row rows[] = {
	{ .name = "list",
	  .letter = 'l',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct cache_settings, list),
	  .help = "List the index files, most recently used first: build-id, size, last use, units in the index, binary. This is the default." },
	{ .name = "build",
	  .letter = 'b',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct cache_settings, build),
	  .help = "Read all debug information of these binaries in advance." },
	{ .name = "purge",
	  .letter = 'P',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct cache_settings, purge),
	  .help = "Remove the index files of these binaries or build-ids; without arguments, all index files." },
	{ .name = "size",
	  .letter = 's',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct cache_settings, size),
	  .help = "Print the size of the index files and its limit." },
	{ .name = "trim",
	  .kind = OPTION_COUNT,
	  .value = "MB",
	  .not_zero = true,
	  .offset = OPTION(struct cache_settings, trim_mb),
	  .help = "Remove the least recently used files until this size is reached." },
	{ .name = "background",
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct cache_settings, background),
	  .help = "With --build: use one thread at the lowest priority, and exit if another process is doing so." },
	{ .name = "threads",
	  .kind = OPTION_COUNT,
	  .value = "NUMBER",
	  .not_zero = true,
	  .offset = OPTION(struct cache_settings, threads),
	  .help = "With --build: use at most this many threads." },
	{ 0 },
};

static void cache_key_text(const struct index_cache_entry *e, char text[KEY_SHOWN + 1])
{
	const char *name = path_base(e->path);

	snprintf(text, KEY_SHOWN + 1, "%.*s", (int)strcspn(name, "."), name);
}

static void print_entry(const struct index_cache_entry *e)
{
	char key[KEY_SHOWN + 1];
	char date[DATE_BYTES] = "";
	time_t used = (time_t)(e->used_ns / NS_PER_S);
	struct tm tm;

	cache_key_text(e, key);
	if (localtime_r(&used, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M", &tm);
	printf("%-*s %9.1f kB  %s  ", KEY_SHOWN, key, (double)e->bytes / 1024, date);
	if (e->path_of && e->is_unwind)
		screen_print_line(stdout, "%13s %s", "unwinding", e->path_of);
	else if (e->path_of)
		screen_print_line(stdout, "%6zu/%-6zu %s", e->nr_kept, e->nr_units,
				  e->path_of);
	else
		screen_print_line(stdout, "%13s %s", "",
				  "(damaged, or of another version)");
}

static int cache_list(const char *dir)
{
	index_cache_list entries;
	int r = index_cache_read(dir, &entries);

	for (size_t i = 0; !r && i < entries.nr; i++) {
		index_details_read(&entries.at[i]);
		print_entry(&entries.at[i]);
	}
	if (!r)
		index_cache_list_done(&entries);
	return r;
}

static int print_size(const char *dir)
{
	index_cache_list entries;
	uint64_t sum = 0;
	int r = index_cache_read(dir, &entries);

	if (r)
		return r;
	for (size_t i = 0; i < entries.nr; i++)
		sum += entries.at[i].bytes;
	screen_print_line(stdout, "%s: %zu index files, %.1f MB of %.0f MB", dir,
			  entries.nr, (double)sum / MEGABYTE,
			  (double)index_cache_limit() / MEGABYTE);
	index_cache_list_done(&entries);
	return 0;
}

static int trim(const char *dir, uint64_t bytes)
{
	size_t removed = 0;
	int r = index_cache_trim(dir, bytes, &removed);

	if (!r)
		printf("%zu index files removed\n", removed);
	return r;
}

/* Returns whether an argument names the entry: by the binary's path or the beginning of its
 * build-id. */
static bool cache_is_meant(const struct index_cache_entry *e, const char *word)
{
	const char *name = path_base(e->path);
	char *real;
	bool same;

	if (strlen(word) >= 4 && strncmp(name, word, strlen(word)) == 0)
		return true;
	real = realpath(word, NULL);
	same = e->path_of &&
	       (!strcmp(e->path_of, word) || (real && !strcmp(e->path_of, real)));
	free(real);
	return same;
}

static int purge_one(const char *dir, const char *word, size_t *removed)
{
	index_cache_list entries;
	size_t before = *removed;
	int r = index_cache_read(dir, &entries);

	if (r)
		return r;
	for (size_t i = 0; i < entries.nr && !r; i++) {
		index_details_read(&entries.at[i]);
		if (!cache_is_meant(&entries.at[i], word))
			continue;
		r = io_unlink(entries.at[i].path);
		if (!r)
			++*removed;
	}
	index_cache_list_done(&entries);
	if (!r && *removed == before) {
		command_error("'%s' has no index file", word);
		return 1;
	}
	return r;
}

static int cache_purge(const char *dir, int nr, char **words)
{
	size_t removed = 0;
	int r = 0;

	if (!nr)
		return trim(dir, 0);
	for (int i = 0; i < nr; i++) {
		int one = purge_one(dir, words[i], &removed);

		r = one ? one : r;
	}
	printf("%zu index files removed\n", removed);
	return r;
}

static int build_one(const struct cache_settings *set, const char *dir,
		     const char *path)
{
	struct lines_options options = { .cache_dir = dir,
					 .threads = (unsigned int)set->threads,
					 .symbols = true };
	struct lines_stats stats;
	struct lines *lines;
	struct err err = { 0 };
	int r;

	if (lines_open_path(&options, path, &lines, &err)) {
		command_error("%s: %s", path, err.text);
		return 1;
	}
	if (!lines_has_info(lines)) {
		command_error("'%s' has no debug information", path);
		lines_free(lines);
		return 1;
	}
	r = lines_make_index(lines);
	lines_stats(lines, &stats);
	lines_free(lines);
	if (r) {
		command_error("'%s': index not written: %s", path, strerror(-r));
		return 1;
	}
	screen_write_name(stdout, path);
	printf(": %zu of %zu units read", stats.units_read, stats.units);
	if (stats.units_split)
		printf("; %zu .dwo files not found", stats.units_split);
	puts(stats.alt_missing ? "; dwz's file not found" : "");
	return 0;
}

static int cache_build(struct cache_settings *set, const char *dir, int nr,
		       char **words)
{
	int r = 0;

	if (!nr) {
		command_error("--build: give the binaries to index");
		return 1;
	}
	if (set->background) {
		set->threads = 1;
		r = cache_fill_become(dir);
		if (r)
			return r == -EBUSY ? 0 : r;
	}
	for (int i = 0; i < nr; i++)
		r |= build_one(set, dir, words[i]);
	return r;
}

static int run_in(struct cache_settings *set, const char *dir, int nr, char **words)
{
	if (set->build)
		return cache_build(set, dir, nr, words);
	/* Wait for index files that a finished report still writes in the background. */
	(void)line_writers_wait(dir, NULL);
	if (set->purge)
		return cache_purge(dir, nr, words);
	if (nr) {
		command_error("'%s': only --build and --purge accept names", words[0]);
		return 1;
	}
	if (set->trim_mb)
		return trim(dir, set->trim_mb * MEGABYTE);
	return set->size ? print_size(dir) : cache_list(dir);
}

static int cache_run(const struct command *self, int argc, char **argv)
{
	struct cache_settings set = { 0 };
	int first;
	char *dir;
	int r = command_options(self, OPTIONS_PERMUTE, argc, argv, &set, &first);

	if (r >= 0)
		return r;
	if (set.list + set.build + set.purge + set.size + (set.trim_mb != 0) > 1) {
		command_error(
			"give only one of --list, --build, --purge, --size, --trim");
		return 1;
	}
	if (set.background && !set.build) {
		command_error("--background requires --build");
		return 1;
	}
	dir = index_cache_dir();
	if (!dir) {
		command_error(
			"there is no cache: set XDG_CACHE_HOME or HOME to a directory that only you can change");
		return 1;
	}
	r = run_in(&set, dir, argc - first, argv + first);
	if (r < 0)
		command_error("%s: %s", dir, strerror(-r));
	free(dir);
	return r ? 1 : 0;
}

const struct command command_cache = {
	.name = "cache",
	.summary = "manage the index files of source lines",
	.usage = "[--list | --size]\n"
		 "--build BINARY...\n"
		 "--purge [BINARY | BUILD-ID]...\n"
		 "--trim MB",
	.options = rows,
	.run = cache_run,
};
