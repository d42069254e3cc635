/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verify.h - whether an archive is still what was written.
 * Layer: archive. */
#pragma once
#include <stddef.h>

#include "base/files/trust.h"

struct err;

struct archive_verified {
	size_t nr_files; /* of the manifest */
	size_t nr_bad; /* missing or with another content; each was named in a warning */
};

/* 0; or a negative errno with a line: it cannot be opened, or has no manifest. */
int archive_verify(const char *path, enum trust trust,
		   struct archive_verified *ret_found, struct err *err);
