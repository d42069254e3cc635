/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scratch.h - a folder for the time of this process, which goes whatever ends it.
 * Layer: base. */
#pragma once

struct err;
struct scratch;

/* A new folder below $TMPDIR, else /tmp, that only this user can read.  A child process
 * waits for the end of this one, and then removes it: to be called before there are threads.
 * 0, or a negative errno with a line for the user. */
int scratch_new(const char *name, struct scratch **ret_scratch, struct err *err);
/* The same as PATH.making-XXXXXX, for what becomes PATH when it is whole: a rename is enough. */
int scratch_new_beside(const char *path, struct scratch **ret_scratch, struct err *err);
const char *scratch_folder(const struct scratch *s);
/* Removes it now.  NULL is fine. */
void scratch_free(struct scratch *s);
