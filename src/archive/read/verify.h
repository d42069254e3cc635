/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verify.h - checks that an archive is unchanged since it was written.
 * Layer: archive. */
#pragma once
#include <stddef.h>

#include "base/files/trust.h"

struct err;

struct archive_verified {
	size_t nr_files; /* number of files in the manifest */
	size_t nr_bad; /* files that are missing or changed; each was reported in a warning */
};

/* Checks the archive at `path`. Returns 0, also if files are bad; or a negative errno with a
 * message in *err if the archive cannot be opened or has no manifest. */
int archive_verify(const char *path, enum trust trust,
		   struct archive_verified *ret_found, struct err *err);
