/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan.h - plans the files of an archive before any of them is written, for two reasons: the
 * required parts of a binary are known only after all recordings were read, and sorting the
 * files puts similar ones next to each other, where they compress better.
 * Layer: archive. */
#pragma once
#include <stdbool.h>
#include <sys/stat.h>

#include "resolve/elf/needed.h"

struct archive_out;
struct archive_plan;
struct err;

/* Creates an empty plan. Returns 0 or -ENOMEM. */
int archive_plan_new(struct archive_plan **ret_plan);
void archive_plan_free(struct archive_plan *p); /* NULL is allowed */
/* Returns whether the name, or a name above or below it in the directory tree, is planned for
 * another file. */
bool archive_plan_conflicts(const struct archive_plan *p, const char *name,
			    const struct stat *st);
struct archive_planned {
	const char *from; /* path of the file to copy */
	/* For a binary: the ranges of code to keep in addition to the sections that reports always
	 * need; NULL: keep the whole file. */
	const elf_spans *keep;
	/* Attributes of the file when it was examined; NULL: use those of the file that is at
	 * `from` now. */
	const struct stat *was;
	bool grows;     /* a file of a recording that may still be running */
	bool is_needed; /* the archive is useless without it */
};

/* Plans to write the file as `name`. Several calls for one file combine their code ranges. If
 * another file has the name already, omits this one with a warning. Returns 0; ARCHIVE_OUT_NAME
 * or ARCHIVE_OUT_TAKEN (out.h; nothing was planned); or a negative errno with a message in *err. */
int archive_plan_add(struct archive_plan *p, const struct archive_planned *file,
		     const char *name, struct err *err);
/* Writes the planned files. If a file was replaced or removed since it was planned, omits it
 * with a warning, or fails if the file is needed. Returns 0; 1, after a warning, if a file was
 * omitted because another one has its name; or a negative errno with a message in *err. */
int archive_plan_write(struct archive_plan *p, struct archive_out *out,
		       struct err *err);
