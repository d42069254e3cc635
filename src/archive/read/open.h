/* SPDX-License-Identifier: GPL-2.0-or-later */
/* open.h - an archive as a folder to read from: one that is a folder, or a portable
 * file, unpacked into a folder of its own.  docs/archive.md has the layout.
 * Layer: archive. */
#pragma once
#include "base/files/trust.h"

struct archive;
struct err;

/* Where things are in it. */
#define ARCHIVE_SAMPLES "var/lib/oprofile/samples"
#define ARCHIVE_PERF_DATA "perf.data" /* in a folder of the samples */
#define ARCHIVE_CACHE ".debug"        /* laid out as perf's cache, without links */
#define ARCHIVE_MODULES "image-path"  /* modules that --image-path led to */
#define ARCHIVE_VMLINUX ".vmlinux"    /* what --vmlinux or the recording named */

/* Refuses what has links, devices or paths that lead out, what is damaged, and what unpacks
 * to far more than it should.  0, or a negative errno with a line for the user. */
int archive_open(const char *path, enum trust trust, struct archive **ret_archive,
		 struct err *err);
/* Removes what was unpacked.  NULL is fine. */
void archive_close(struct archive *a);
/* Its folder, absolute; NULL for NULL. */
const char *archive_folder(const struct archive *a);
