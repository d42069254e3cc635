/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scratch.h - a temporary directory that is removed when this process ends, even if it is killed.
 * Layer: base. */
#pragma once

struct err;
struct scratch;

/* Creates a directory below $TMPDIR, or /tmp, that only this user can read. A child process
 * waits for the end of this process and then removes it; so call this before starting threads.
 * Returns 0, or a negative errno with a message in *err. */
int scratch_new(const char *name, struct scratch **ret_scratch, struct err *err);
/* Like scratch_new(), but creates PATH.making-XXXXXX. When the contents are complete, rename them
 * to PATH, which is in the same file system. */
int scratch_new_next_to(const char *path, struct scratch **ret_scratch,
			struct err *err);
const char *scratch_folder(const struct scratch *s);
/* Removes the directory now and frees `s`. Accepts NULL. */
void scratch_free(struct scratch *s);
