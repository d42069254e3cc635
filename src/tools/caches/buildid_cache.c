/* SPDX-License-Identifier: GPL-2.0-or-later */
/* buildid_cache.c - `oprofile buildid-cache`: lists perf's cache of binaries, adds to it and
 * removes from it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/files/io.h"
#include "capture/system/kernel_files.h"
#include "present/lines/screen.h"
#include "recordings/debug_dir.h"
#include "recordings/images.h"
#include "recordings/sources.h"
#include "resolve/elf/build_id.h"
#include "resolve/find/binary.h"
#include "resolve/find/debug_cache_store.h"
#include "tools/cli/command.h"

enum {
	STATUS_INCOMPLETE = 3,
	HEX_BYTES = 2 * BUILD_ID_MAX + 1,
	NOTES_MAX_BYTES = 1 << 20
};

extern const struct command command_buildid_cache;

struct buildid_cache_settings {
	struct word_list add;
	struct word_list remove;
	struct word_list purge;
	struct word_list update;
	const char *missing;
	const char *dir_given;
	const char *kcore;
	bool purge_all;
	bool list;
	char *dir; /* the cache */
};

static const struct option_row rows[] = {
	{ .name = "add",
	  .letter = 'a',
	  .kind = OPTION_LIST,
	  .value = "FILE[,...]",
	  .offset = OPTION(struct buildid_cache_settings, add),
	  .help = "Add these binaries and their separate debug files. [kernel.kallsyms] adds the symbols of the running kernel, [vdso] its vdso." },
	{ .name = "remove",
	  .letter = 'r',
	  .kind = OPTION_LIST,
	  .value = "FILE[,...]",
	  .offset = OPTION(struct buildid_cache_settings, remove),
	  .help = "Remove the entries with the build-ids of these files; a build-id is also accepted." },
	{ .name = "purge",
	  .letter = 'p',
	  .kind = OPTION_LIST,
	  .value = "FILE[,...]",
	  .offset = OPTION(struct buildid_cache_settings, purge),
	  .help = "Remove all versions of these paths." },
	{ .name = "purge-all",
	  .letter = 'P',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct buildid_cache_settings, purge_all),
	  .help = "Remove everything." },
	{ .name = "update",
	  .letter = 'u',
	  .kind = OPTION_LIST,
	  .value = "FILE[,...]",
	  .offset = OPTION(struct buildid_cache_settings, update),
	  .help = "Like --add, but replace existing entries." },
	{ .name = "list",
	  .letter = 'l',
	  .kind = OPTION_FLAG,
	  .offset = OPTION(struct buildid_cache_settings, list),
	  .help = "List build-ids and names." },
	{ .name = "missing",
	  .letter = 'M',
	  .kind = OPTION_TEXT,
	  .value = "RECORDING",
	  .offset = OPTION(struct buildid_cache_settings, missing),
	  .help = "List binaries that were hit in a recording but are not in the cache." },
	{ .name = "buildid-dir",
	  .kind = OPTION_TEXT,
	  .value = "DIR",
	  .offset = OPTION(struct buildid_cache_settings, dir_given),
	  .help = "Use this cache (default: $PERF_BUILDID_DIR, else ~/.debug)." },
	{ .name = "kcore",
	  .letter = 'k',
	  .kind = OPTION_REFUSED,
	  .value = "FILE",
	  .refusal =
		  "a kcore is not copied; `perf buildid-cache --kcore` does it, and its kallsyms are read from there" },
	{ 0 },
};

static int report(const char *name, int r)
{
	if (r)
		command_error("%s: %s", name,
			      r == -ENODATA   ? "has no build-id"
			      : r == -EBADMSG ? "is not an ELF file"
			      : r == -EPERM   ? "the cache's link leads elsewhere"
					      : strerror(-r));
	return r;
}

static int add_kallsyms(const struct buildid_cache_settings *set)
{
	struct buf notes = { 0 };
	struct build_id id;
	int r = io_read_file("/sys/kernel/notes", &notes, NOTES_MAX_BYTES);

	if (!r)
		r = notes_build_id(notes.data, notes.len, &id);
	buf_done(&notes);
	return r ? r
		 : debug_cache_add(set->dir, &id, DEBUG_CACHE_KALLSYMS,
				   "[kernel.kallsyms]", "/proc/kallsyms");
}

static int add_vdso(const struct buildid_cache_settings *set)
{
	const void *bytes;
	struct build_id id;
	size_t len;
	int r = kernel_files_own_vdso(&bytes, &len);

	if (!r)
		r = elf_build_id_bytes(bytes, len, &id);
	return r ? r
		 : debug_cache_add_bytes(set->dir, &id, DEBUG_CACHE_VDSO, "[vdso]",
					 bytes, len);
}

/* Adds the binary's debug file if it is installed. */
static int add_debug_file(const struct buildid_cache_settings *set,
			  const struct build_id *id, const char *path)
{
	const struct binary_locations locations = { .session_dir = "", .root = "" };
	const struct image image = { .kind = IMAGE_FILE, .build_id = *id };
	struct binary b;
	int r = binary_find(&locations, &image, path, &b);

	if (!r && b.debug_path)
		r = debug_cache_add(set->dir, id, DEBUG_CACHE_DEBUG, path,
				    b.debug_path);
	if (!r)
		binary_close(&b);
	return r;
}

static int add_binary(const struct buildid_cache_settings *set, const char *file,
		      bool replace)
{
	struct build_id id;
	char *path = realpath(file, NULL);
	int r = path ? elf_build_id(path, &id, NULL) : -errno;

	if (!r && replace) {
		r = debug_cache_remove(set->dir, &id);
		if (r == -ENOENT || r == -EPERM)
			r = 0;
	}
	if (!r)
		r = debug_cache_add(set->dir, &id, DEBUG_CACHE_ELF, path, path);
	if (!r)
		r = add_debug_file(set, &id, path);
	free(path);
	return r;
}

static int buildid_cache_add(const struct buildid_cache_settings *set, const char *file)
{
	if (!strcmp(file, "[kernel.kallsyms]") || !strcmp(file, "/proc/kallsyms"))
		return add_kallsyms(set);
	if (!strcmp(file, "[vdso]"))
		return add_vdso(set);
	return add_binary(set, file, false);
}

static int buildid_cache_update(const struct buildid_cache_settings *set,
				const char *file)
{
	return file[0] == '[' ? buildid_cache_add(set, file)
			      : add_binary(set, file, true);
}

static int buildid_cache_remove_file(const struct buildid_cache_settings *set,
				     const char *file)
{
	struct build_id id;
	int r = 0;

	if (!build_id_parse(file, &id) || id.len < 2)
		r = elf_build_id(file, &id, NULL);
	return r ? r : debug_cache_remove(set->dir, &id);
}

/* Removes the entries with a name (NULL: all).  Returns -ENOENT if there were none. */
static int purge_name(const struct buildid_cache_settings *set, const char *name)
{
	debug_cache_entries entries;
	int r = debug_cache_list(set->dir, &entries);
	bool found = !name;

	if (r)
		return r;
	for (size_t i = 0; !r && i < entries.nr; i++) {
		if (name && strcmp(entries.at[i].name, name) != 0)
			continue;
		found = true;
		r = debug_cache_remove(set->dir, &entries.at[i].id);
	}
	debug_cache_entries_done(&entries);
	return r || found ? r : -ENOENT;
}

/* Removes the entries of a binary, by its path without links. If the binary no longer exists, uses
 * the path as the user wrote it. */
static int buildid_cache_purge(const struct buildid_cache_settings *set,
			       const char *file)
{
	char *path = realpath(file, NULL);
	int r = purge_name(set, path ? path : file);

	free(path);
	return r;
}

static int buildid_cache_list(const struct buildid_cache_settings *set)
{
	char hex[HEX_BYTES];
	debug_cache_entries entries;
	int r = debug_cache_list(set->dir, &entries);

	if (r)
		return report(set->dir, r);
	for (size_t i = 0; i < entries.nr; i++) {
		build_id_to_hex(&entries.at[i].id, hex);
		printf("%s ", hex);
		screen_write_name(stdout, entries.at[i].name);
		putchar('\n');
	}
	debug_cache_entries_done(&entries);
	return 0;
}

static bool buildid_cache_is_cached(const struct buildid_cache_settings *set,
				    const struct source_image *at)
{
	static const enum debug_cache_part parts[] = { DEBUG_CACHE_ELF,
						       DEBUG_CACHE_KALLSYMS,
						       DEBUG_CACHE_VDSO };

	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		bool fits = parts[i] == DEBUG_CACHE_KALLSYMS
				    ? at->image->kind == IMAGE_KERNEL
				    : (parts[i] == DEBUG_CACHE_VDSO) ==
					      (at->image->kind == IMAGE_VDSO);
		char *path;
		int fd;

		if (!fits || debug_cache_open(set->dir, &at->image->build_id, parts[i],
					      at->name, &fd, &path))
			continue;
		close(fd);
		free(path);
		return true;
	}
	return false;
}

static int print_missing(void *ctx, const struct source_image *at)
{
	char hex[HEX_BYTES];

	if (!at->image->build_id.len || buildid_cache_is_cached(ctx, at))
		return 0;
	build_id_to_hex(&at->image->build_id, hex);
	printf("%-*s ", HEX_BYTES - 1, hex);
	screen_write_name(stdout, at->name);
	putchar('\n');
	return 0;
}

/* Prints the build-ids and names of the binaries in a recording (--missing) that are not in the
 * cache. Returns an exit status. */
static int missing(struct buildid_cache_settings *set)
{
	char *words[] = { strdup(set->missing), NULL };
	struct report_sources sources = { 0 };
	struct spec spec = { 0 };
	struct err err = { 0 };
	int r = words[0] ? source_images_find(NULL, words, &spec, &sources, &err)
			 : err_set(&err, -ENOMEM, "out of memory");

	if (!r)
		r = source_images_walk(&sources, print_missing, set, &err);
	free(words[0]);
	if (r < 0)
		command_error("%s", err.text);
	report_sources_done(&sources);
	spec_done(&spec);
	return r < 0 ? 1 : r ? STATUS_INCOMPLETE : 0;
}

/* Calls `change` for each name in the comma-separated lists (names cannot contain commas).
 * Returns how many failed. */
static unsigned int
each(const struct buildid_cache_settings *set, const struct word_list *list_of,
     int (*change)(const struct buildid_cache_settings *, const char *))
{
	unsigned int nr_bad = 0;

	for (size_t i = 0; i < list_of->values.nr; i++) {
		char *copy = strdup(list_of->values.at[i]);
		char *save = NULL;

		if (!copy)
			return nr_bad + 1;
		for (char *file = strtok_r(copy, ",", &save); file;
		     file = strtok_r(NULL, ",", &save))
			nr_bad += report(file, change(set, file)) != 0;
		free(copy);
	}
	return nr_bad;
}

static bool has_work(const struct buildid_cache_settings *set)
{
	return set->add.values.nr || set->remove.values.nr || set->purge.values.nr ||
	       set->update.values.nr || set->purge_all || set->list || set->missing;
}

static int buildid_cache_work(struct buildid_cache_settings *set)
{
	unsigned int nr_bad = 0;
	int status = 0;

	if (set->purge_all)
		nr_bad += report(set->dir, purge_name(set, NULL)) != 0;
	nr_bad += each(set, &set->purge, buildid_cache_purge);
	nr_bad += each(set, &set->remove, buildid_cache_remove_file);
	nr_bad += each(set, &set->update, buildid_cache_update);
	nr_bad += each(set, &set->add, buildid_cache_add);
	if (set->missing)
		status = missing(set);
	if (set->list)
		nr_bad += buildid_cache_list(set) != 0;
	return nr_bad ? 1 : status;
}

static char *given_dir(const char *dir)
{
	return trust_cache_dir(dir) ? strdup(dir) : NULL;
}

static int buildid_cache_run(const struct command *self, int argc, char **argv)
{
	struct buildid_cache_settings set = { 0 };
	int first;
	int status = command_options(self, OPTIONS_PERMUTE, argc, argv, &set, &first);

	if (status < 0) {
		set.dir = set.dir_given ? given_dir(set.dir_given) : debug_dir();
		status = 1;
		if (argv[first])
			command_error(
				"'%s': name files with --add, --remove, --purge or --update",
				argv[first]);
		else if (!set.dir)
			command_error(
				"there is no cache: give --buildid-dir a directory that only you can change");
		else if (!has_work(&set))
			command_error(
				"no action given: use --list, --add FILE, --remove FILE, --missing RECORDING ...");
		else
			status = buildid_cache_work(&set);
	}
	vec_done(&set.add.values);
	vec_done(&set.remove.values);
	vec_done(&set.purge.values);
	vec_done(&set.update.values);
	free(set.dir);
	return status;
}

const struct command command_buildid_cache = {
	.name = "buildid-cache",
	.summary = "manage the cache of binaries that perf and oprofile share",
	.usage =
		"--list | --missing RECORDING\n"
		"--add FILE... | --update FILE... | --remove FILE... | --purge FILE...",
	.notes =
		"Reports find the binaries in this cache by build-id. For a recording of another machine, copy that machine's ~/.debug here, or unpack its `perf archive` into the cache.",
	.options = rows,
	.run = buildid_cache_run,
};
