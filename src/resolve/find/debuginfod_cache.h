/* debuginfod_cache.h - the folder in which debuginfod clients keep what they fetched; gdb,
 * perf and others share it.
 * Layer: resolve.
 *
 * Layout (elfutils 0.188, debuginfod-client.c): BUILD-ID/executable, BUILD-ID/debuginfo,
 * BUILD-ID/source##path##of##it ('/' is "##", '#' is "#_"); an empty file means that no
 * server has it, as of its mtime.  cache_miss_s, cache_clean_interval_s and
 * max_unused_age_s hold numbers of seconds; the mtime of the second is when the folder was
 * swept last.  Ours alone is oprofile-failed-KEY: a server, or the wait for a file, failed
 * then; KEY is a hash of the URL, or of the build-id and kind. */
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

/* A file to be had. */
struct debuginfod_want {
	enum debuginfod_kind kind;
	struct build_id id;
	const char
		*source; /* of a SOURCE: its absolute path, as DWARF has it; borrowed */
};

/* What servers and the cache call a kind: "executable". */
const char *debuginfod_kind_name(enum debuginfod_kind kind);
/* Whether the file at `fd` can be what was wanted: an ELF file with that build-id. */
bool debuginfod_cache_is(int fd, const struct debuginfod_want *want);
/* 0: *ret_fd and *ret_path (malloc'd) are the caller's; -ENOENT: no server had it a while
 * ago; -EAGAIN: nothing is known; -ENOMEM.  Only a file that is what was wanted counts. */
int debuginfod_cache_open(const char *dir, const struct debuginfod_want *want,
			  int *ret_fd, char **ret_path);

/* A file on its way into the cache. */
struct debuginfod_part {
	int fd;
	char *path; /* NULL: none */
};
/* Opens one beside its place, makes the folders.  0 or a negative errno. */
int debuginfod_cache_begin(const char *dir, const struct debuginfod_want *want,
			   struct debuginfod_part *ret_part);
/* Puts it in its place, for all clients; consumed.  0 or a negative errno. */
int debuginfod_cache_keep(const char *dir, const struct debuginfod_want *want,
			  struct debuginfod_part *part);
void debuginfod_cache_drop(struct debuginfod_part *part);
/* Notes that no server has the file. */
void debuginfod_cache_miss(const char *dir, const struct debuginfod_want *want);

/* Seconds since this failed, if that was lately; -1: it did not. */
int64_t debuginfod_cache_failed(const char *dir, uint64_t key);
void debuginfod_cache_note(const char *dir, uint64_t key, bool failed);
/* Removes what nobody read for long, if the time for that has come. */
void debuginfod_cache_sweep(const char *dir);
