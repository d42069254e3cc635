/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debuginfod_cache.h - the directory in which debuginfod clients cache fetched files; shared
 * with gdb, perf and others.
 * Layer: resolve.
 *
 * Layout (elfutils 0.188, debuginfod-client.c): BUILD-ID/executable, BUILD-ID/debuginfo,
 * BUILD-ID/source##path##of##it ('/' is "##", '#' is "#_"). An empty file means that no server
 * had the file at its mtime. cache_miss_s, cache_clean_interval_s and max_unused_age_s contain
 * a number of seconds; the mtime of the second is the time of the last cleanup. Only this
 * program writes oprofile-failed-KEY: a server, or waiting for a file, failed at its mtime. KEY
 * is a hash of the URL, or of the build-id and kind. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "format/session/dict.h"

enum debuginfod_kind {
	DEBUGINFOD_EXECUTABLE,
	DEBUGINFOD_DEBUGINFO,
	DEBUGINFOD_SOURCE,
	DEBUGINFOD_KINDS
};

/* Identifies a file to fetch. */
struct debuginfod_want {
	enum debuginfod_kind kind;
	struct build_id id;
	const char *source; /* for SOURCE: absolute path as in DWARF; borrowed */
};

/* Returns the name of a kind in URLs and in the cache, such as "executable". */
const char *debuginfod_kind_name(enum debuginfod_kind kind);
/* Returns whether the file at `fd` can be the requested one: a complete ELF file with that
 * build-id. Accepts any file as a source, because sources contain no build-id. */
bool debuginfod_cache_is(int fd, const struct debuginfod_want *want);
/* Opens a cached file if it passes debuginfod_cache_is(). Returns 0: the caller owns *ret_fd
 * and *ret_path (malloc'd); -ENOENT if recently no server had it; -EAGAIN if the cache has no
 * entry; or -ENOMEM. */
int debuginfod_cache_open(const char *dir, const struct debuginfod_want *want,
			  int *ret_fd, char **ret_path);

/* A file that is being written to the cache. */
struct debuginfod_part {
	int fd;
	char *path; /* NULL: unused */
};
/* Creates a temporary file in the directory of its final path, which it creates if necessary.
 * Returns 0 or a negative errno. */
int debuginfod_cache_begin(const char *dir, const struct debuginfod_want *want,
			   struct debuginfod_part *ret_part);
/* Renames the file to its final path, where all clients find it. Consumes `part`. Returns 0 or a
 * negative errno. */
int debuginfod_cache_keep(const char *dir, const struct debuginfod_want *want,
			  struct debuginfod_part *part);
void debuginfod_cache_drop(struct debuginfod_part *part);
/* Records that no server has the file. */
void debuginfod_cache_miss(const char *dir, const struct debuginfod_want *want);

/* Returns the number of seconds since the last failure of `key` if that is still to be respected
 * (cache_miss_s), else -1. */
int64_t debuginfod_cache_failed(const char *dir, uint64_t key);
void debuginfod_cache_note(const char *dir, uint64_t key, bool failed);
/* Removes files that have not been read for a long time, once per cleanup interval. */
void debuginfod_cache_sweep(const char *dir);
