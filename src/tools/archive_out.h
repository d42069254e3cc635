/* archive_out.h - writes an archive: a folder, or a portable file (tar, packed with zstd).
 * Layer: tools. */
#pragma once
#include <stdbool.h>

struct archive_out;
struct err;

/* `path`: where to; a folder that is made if it does not exist and keeps what it has, or a
 * file that comes into being at the end.  0, or a negative errno with a line. */
int archive_out_new(const char *path, bool folder, struct archive_out **ret_out,
		    struct err *err);
/* Whether there is a file of this name. */
bool archive_out_has(const struct archive_out *out, const char *name);
/* Copies the file `from` (a /proc file too) to `name`, once.  0; 1: the name leads out of
 * the archive, and nothing was done; a negative errno with a line. */
int archive_out_add(struct archive_out *out, const char *from, const char *name,
		    struct err *err);
/* Notes a binary that was hit. */
int archive_out_image(struct archive_out *out, const char *build_id, bool found,
		      const char *name, struct err *err);
/* The manifest, and the end. */
int archive_out_finish(struct archive_out *out, struct err *err);
/* An archive file that was not finished is removed.  NULL is fine. */
void archive_out_free(struct archive_out *out);
