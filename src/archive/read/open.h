/* SPDX-License-Identifier: GPL-2.0-or-later */
/* open.h - opens an archive and provides its directory. A portable file is unpacked into a
 * temporary directory. docs/archive.md describes the layout.
 * Layer: archive. */
#pragma once
#include "base/files/trust.h"

struct archive;
struct err;

/* Opens the archive at `path`, a directory or a portable file. Refuses damaged or unfinished
 * archives, archives that contain links, devices or paths that lead outside, and files that unpack
 * to far more than expected. Returns 0, or a negative errno with a message in *err. */
int archive_open(const char *path, enum trust trust, struct archive **ret_archive,
		 struct err *err);
/* Removes the unpacked files and frees `a`. NULL is allowed. */
void archive_close(struct archive *a);
/* Returns the absolute path of the archive's directory; NULL if `a` is NULL. */
const char *archive_folder(const struct archive *a);
