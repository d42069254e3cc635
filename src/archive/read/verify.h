/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verify.h - checks that an archive is unchanged since it was written.
 * Layer: archive. */
#pragma once
#include <stddef.h>

#include "base/files/trust.h"

struct err;

struct archive_verified {
	size_t nr_files; /* in the manifest */
	size_t nr_bad;   /* missing or changed; each was reported in a warning */
};

/* Returns 0; or a negative errno with a message in *err if it cannot be opened or has no
 * manifest. */
int archive_verify(const char *path, enum trust trust,
		   struct archive_verified *ret_found, struct err *err);
