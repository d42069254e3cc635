/* SPDX-License-Identifier: GPL-2.0-or-later */
/* out.h - the file that a report or an export is written to.
 * Layer: tools. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

struct err;
struct scratch;

struct report_out {
	FILE *file;
	const char *path; /* NULL: the standard output */
	struct scratch
		*dir; /* NULL: `path` is written at once, as it is no regular file */
	char *making; /* in it */
	char *target; /* the file that takes the name; NULL: the link leads nowhere yet */
};

/* `path` NULL or "-": the standard output.  A regular file is made beside what is there, which
 * may be what is read.  0, or a negative errno with a line; close is called in either case. */
int report_out_open(struct report_out *o, const char *path, struct err *err);
/* How it ends. */
enum export_end {
	EXPORT_DROPPED, /* not all could be written: there is no file */
	EXPORT_PUBLIC,  /* it takes its name, with the mode of the umask */
	EXPORT_PRIVATE  /* the same for its owner alone: what it shows is private */
};
/* Of what shows a recording that is private or not. */
enum export_end report_out_end(bool is_private);
/* 0, or a negative errno with a line. */
int report_out_close(struct report_out *o, enum export_end end, struct err *err);
