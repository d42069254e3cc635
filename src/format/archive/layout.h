/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout.h - the names in an archive of a recording.  docs/archive.md describes the layout.
 * Layer: format. */
#pragma once
#include <stdbool.h>

#define ARCHIVE_SAMPLES "var/lib/oprofile/samples"
/* file name of a perf.data, in a directory below ARCHIVE_SAMPLES */
#define ARCHIVE_PERF_DATA "perf.data"
#define ARCHIVE_CACHE ".debug"       /* like perf's build-id cache, without links */
#define ARCHIVE_MODULES "image-path" /* modules found by --image-path */
#define ARCHIVE_VMLINUX ".vmlinux"   /* the file named by --vmlinux or the recording */
#define ARCHIVE_MANIFEST_NAME "manifest"
#define ARCHIVE_UNFINISHED_NAME "unfinished" /* marks a directory as incomplete */
/* Temporary name of the file that is being written into a directory. */
#define ARCHIVE_PART_NAME "unfinished.part"

/* How readers of an archive use a name. */
enum archive_name_use {
	ARCHIVE_NAME_PLAIN, /* a binary or source recorded at this path */
	ARCHIVE_NAME_DEBUG, /* readers can find it as a debug file, kernel or module */
	ARCHIVE_NAME_JIT,   /* readers can find it as a file of a JIT compiler */
	ARCHIVE_NAME_OWN /* the archive format itself uses this name or one below it */
};

/* Returns how readers use a valid name (archive_name_ok()). Processes choose the paths of their
 * binaries, sources and debug files, so a file must not be stored under a name that readers use
 * for another purpose. */
enum archive_name_use archive_name_use(const char *name);
/* Returns whether the name is in the cache (ARCHIVE_CACHE). There, a name contains the build-id,
 * so all files with the same name have the same build-id. */
bool archive_name_cached(const char *name);
/* Returns false if the name is ARCHIVE_NAME_OWN and the archive format defines no file of this
 * name; true for all other names. */
bool archive_name_defined(const char *name);
