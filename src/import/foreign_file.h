/* SPDX-License-Identifier: GPL-2.0-or-later */
/* foreign_file.h - recognises and maps the file of another tool's profile.
 * Layer: import. Compressed files and pipes are first copied to a temporary file, so that they
 * need not fit into memory. */
#pragma once
#include <stddef.h>

#include "base/files/mapped.h"
#include "base/files/trust.h"

struct err;
struct foreign_format;

struct foreign_file {
	const struct foreign_format *format;
	const char *data;
	size_t len;
	struct mapped map; /* contains the data */
	size_t dropped;    /* bytes at the start that were dropped from memory */
};

/* Opens a profile; "-" is the standard input. Returns 0, or a negative errno with a message in
 * *err: in particular if the format is unknown or has no reader. */
int foreign_file_open(const char *path, enum trust trust, struct foreign_file *ret_file,
		      struct err *err);
/* Removes the data before `at` from memory. If a reader accesses it again, the kernel reads it
 * again from the file. Ignores an `at` outside of the data. */
void foreign_file_drop(struct foreign_file *f, const char *at);
/* Unmaps and closes the file; accepts a zeroed struct. */
void foreign_file_close(struct foreign_file *f);
/* Returns the name that messages use for an input. */
const char *foreign_file_name(const char *path);
