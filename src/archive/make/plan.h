/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan.h - plans the files of an archive before writing any of them.  The required parts of a
 * binary are known only after all recordings were read, and similar files compress better next to
 * each other.
 * Layer: archive. */
#pragma once
#include <stdbool.h>
#include <sys/stat.h>

#include "resolve/elf/needed.h"

struct archive_out;
struct archive_plan;
struct err;

/* Returns 0 or -ENOMEM. */
int archive_plan_new(struct archive_plan **ret_plan);
void archive_plan_free(struct archive_plan *p); /* NULL is allowed */
/* Returns whether the name, or one above or below it, is planned for another file. */
bool archive_plan_conflicts(const struct archive_plan *p, const char *name,
			    const struct stat *st);
struct archive_planned {
	const char *from; /* its path */
	/* For a binary: the code to keep in addition to what reports always need; NULL: the whole
	 * file. */
	const elf_spans *keep;
	/* The file that was examined; NULL: the file that is at `from` now. */
	const struct stat *was;
	bool grows;     /* a file of a recording that may still be running */
	bool is_needed; /* the archive is useless without it */
};

/* Plans to write the file as `name`.  Several calls for one file combine their code ranges.  A
 * name belongs to the first file that claims it; another file is left out with a warning.
 * Returns 0; ARCHIVE_OUT_NAME or ARCHIVE_OUT_TAKEN (out.h; nothing was done); or a negative errno
 * with a message in *err. */
int archive_plan_add(struct archive_plan *p, const struct archive_planned *file,
		     const char *name, struct err *err);
/* Writes the files.  Leaves out a file that was replaced or removed meanwhile, with a warning,
 * unless it is needed, which is an error.  Returns 0; 1 if another file already has a name, with
 * a warning; or a negative errno with a message in *err. */
int archive_plan_write(struct archive_plan *p, struct archive_out *out,
		       struct err *err);
