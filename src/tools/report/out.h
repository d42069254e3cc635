/* SPDX-License-Identifier: GPL-2.0-or-later */
/* out.h - the output file of a report or an export.
 * Layer: tools. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

struct err;
struct scratch;
struct strtab;

struct report_out {
	FILE *file;
	const char *path; /* NULL: standard output */
	/* Temporary directory; NULL: the output is written directly, because `path` is not a
	 * regular file. */
	struct scratch *dir;
	char *making; /* path of the temporary file in `dir` */
	char *target; /* final path; NULL: a link that leads nowhere yet */
};

/* Opens the output. If `path` is NULL or "-", that is the standard output. Otherwise, if it is a
 * regular file, writes to a temporary file next to it, because the existing file may be the input.
 * Returns 0, or a negative errno with a message in *err; call report_out_close() in both cases. */
int report_out_open(struct report_out *o, const char *path, struct err *err);
/* The final state of the file. */
enum export_end {
	EXPORT_DROPPED, /* output is incomplete: no file is created */
	EXPORT_PUBLIC,  /* the file gets its name, with the mode of the umask */
	EXPORT_PRIVATE  /* the file gets its name, readable only for its owner */
};
/* Returns the final state for output of a private or public recording. */
enum export_end report_out_end(bool is_private);
/* Closes the output and creates the file according to `end`. Returns 0, or a negative errno with a
 * message in *err. */
int report_out_close(struct report_out *o, enum export_end end, struct err *err);

/* Returns the path of the file of an application, PREFIX.NAME, or PREFIX.NAME.2 if `used`
 * contains that already; adds it to `used`.  NAME is the end of the application's path, which any
 * user can choose: control characters are escaped, slashes become "_", and its length leaves the
 * file name valid.  The caller frees it.  Returns NULL if memory is short. */
char *report_out_app_path(struct strtab *used, const char *prefix, const char *app);
