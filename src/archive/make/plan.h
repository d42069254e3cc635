/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan.h - the files that an archive will have, before the first of them is written:
 * which parts of a binary are needed is known when all recordings were looked at; and files
 * that are alike lie next to each other, where they pack better.
 * Layer: archive. */
#pragma once
#include <stdbool.h>
#include <sys/stat.h>

#include "resolve/elf/needed.h"

struct archive_out;
struct archive_plan;
struct err;

/* 0 or -ENOMEM. */
int archive_plan_new(struct archive_plan **ret_plan);
void archive_plan_free(struct archive_plan *p); /* NULL is fine */
/* Whether the name is planned for another file. */
bool archive_plan_is_other(const struct archive_plan *p, const char *name,
			   const char *from);
struct archive_planned {
	const char *from; /* its path */
	/* A binary of which, in addition to what reports need of any, only the code there is
	 * wanted; NULL: all of it. */
	const elf_spans *keep;
	/* Of the file that was looked at; NULL: it is at `from` now. */
	const struct stat *was;
	bool grows;     /* a file of a recording, which may go on */
	bool is_needed; /* the archive is worth nothing without it */
};

/* Plans to put the file at `name`.  To be called as often as it is needed: everything wanted is
 * there then.  A name is for one file, others are left out.  0, 1 (no name for an archive, nothing
 * was done) or a negative errno with a line. */
int archive_plan_add(struct archive_plan *p, const struct archive_planned *file,
		     const char *name, struct err *err);
/* Writes them.  A file that was replaced or removed meanwhile is named in a warning and left out; one
 * that is needed is an error.  0 or a negative errno with a line. */
int archive_plan_write(struct archive_plan *p, struct archive_out *out,
		       struct err *err);
