/* trust.h - folders in which files may be removed and renamed: real ones, of the caller or of root.
 * Layer: base.  What is done by the descriptor stays in the folder that was looked at, whatever becomes of
 * its path. */
#pragma once
#include <sys/types.h>

struct err;

/* The folder `name` in the folder `at` (AT_FDCWD: the current one), which is no symbolic link and belongs
 * to the caller or to root; `shown` is its path in messages.  A descriptor for openat(2) and its kind (O_PATH:
 * it cannot be read).  -ENOENT without a text if there is none; else, with one, -ELOOP of a link, -ENOTDIR,
 * -EPERM of another owner, or another negative errno. */
int trust_open_dir(int at, const char *name, const char *shown, struct err *err);
/* The same, and it is made with `mode` if missing. */
int trust_make_dir(int at, const char *name, mode_t mode, const char *shown,
		   struct err *err);
