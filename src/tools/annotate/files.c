/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/annotate/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/files/output.h"
#include "base/files/path.h"
#include "base/files/trust.h"
#include "base/safe_text.h"
#include "recordings/code/source_file.h"

int annotate_output_open(struct annotate_output *o, struct err *err)
{
	char *real;
	bool is_root;

	if (strtab_init(&o->written))
		return err_set(err, -ENOMEM, "out of memory");
	o->fd = output_make_dir(o->dir, output_dir_mode(o->is_private), err);
	if (o->fd < 0)
		return o->fd;
	real = realpath(o->dir, NULL);
	is_root = real && !strcmp(real, "/");
	free(real);
	return is_root ? err_set(err, -EINVAL,
				 "Output path of / would over-write the source files")
		       : 0;
}

void annotate_output_close(struct annotate_output *o)
{
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
	strtab_done(&o->written);
}

/* Appends a name of a path. If escapes would make it too long for a file system, replaces each
 * control character by "_". */
static void annotate_files_escape_name(struct buf *out, char *name, size_t len)
{
	size_t before = out->len;

	safe_text_put(out, name, len, true);
	if (out->len - before <= NAME_MAX)
		return;
	out->len = before;
	safe_text_mask(name, len, '_');
	buf_put(out, name, len);
}

char *annotate_output_path(const char *source)
{
	struct buf escaped = { 0 };
	char *full = path_full(source, "");

	if (!full)
		return NULL;
	/* A path of path_full() consists of single slashes, each followed by a name. */
	for (char *at = full; *at;) {
		size_t len = strcspn(at + 1, "/");

		buf_put_u8(&escaped, '/');
		annotate_files_escape_name(&escaped, at + 1, len);
		at += 1 + len;
	}
	buf_put_u8(&escaped, 0);
	free(full);
	if (!escaped.failed)
		return (char *)escaped.data;
	buf_done(&escaped);
	return NULL;
}

bool annotate_output_leaves_out(int code)
{
	switch (-code) {
	case ENAMETOOLONG:
	case EINVAL: /* an empty name, or bytes that this file system rejects */
	case EILSEQ:
	case ELOOP:
	case ENOTDIR:
	case EISDIR:
	case EEXIST:
	case EMLINK:
	case EPERM:
		return true;
	default:
		return false;
	}
}

static const int new_file_flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;

static int annotate_files_refuse(const struct annotate_output *o, const char *path,
				 struct err *err)
{
	return err_set(err, -EPERM,
		       "refusing to create file %s%s outside of output directory %s",
		       o->dir, path, o->dir);
}

/* Opens the directory `name` in the directory `above`, and creates it if missing; closes `above`.
 * Returns a descriptor or a negative errno. */
static int enter_folder(const struct annotate_output *o, int above, const char *name,
			size_t len)
{
	char *part = strndup(name, len);
	int fd = part ? trust_make_dir(above, part, output_dir_mode(o->is_private),
				       part, NULL)
		      : -ENOMEM;

	free(part);
	close(above);
	return fd;
}

/* Opens the directory for the file, and creates it if missing.  Returns a descriptor or a
 * negative errno. */
static int open_folders(const struct annotate_output *o, const char *path,
			const char **ret_name, struct err *err)
{
	const char *at = path + strspn(path, "/");
	int fd = fcntl(o->fd, F_DUPFD_CLOEXEC, 0);

	while (fd >= 0 && strchr(at, '/')) {
		fd = enter_folder(o, fd, at, strcspn(at, "/"));
		at += strcspn(at, "/");
		at += strspn(at, "/");
	}
	*ret_name = at;
	if (fd >= 0)
		return fd;
	/* -ELOOP: a symbolic link has the name of the directory. */
	if (fd == -ELOOP)
		return annotate_files_refuse(o, path, err);
	if (fd == -EPERM)
		return err_set(
			err, fd,
			"cannot write '%s%s': its directory belongs to another user: give another --output-dir",
			o->dir, path);
	return err_sys(err, fd, "cannot create the directory of '%s%s'", o->dir, path);
}

static int clear_position(const struct annotate_output *o, const char *path, int fd,
			  const struct source_file *source, struct err *err)
{
	const char *name = path_base(path);
	struct stat st;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	if (S_ISDIR(st.st_mode))
		return err_sys(err, -EISDIR, "cannot write '%s%s'", o->dir, path);
	if (!S_ISREG(st.st_mode))
		return annotate_files_refuse(o, path, err);
	if (source->text && st.st_dev == source->st.st_dev &&
	    st.st_ino == source->st.st_ino)
		return err_set(err, -EEXIST,
			       "input and output files are identical: %s%s", o->dir,
			       path);
	return unlinkat(fd, name, 0)
		       ? err_sys(err, -errno, "cannot remove '%s%s'", o->dir, path)
		       : 0;
}

/* Checks a path. Returns 0, or -EINVAL, -EEXIST or -ENAMETOOLONG if no file can have this path. */
static int annotate_files_check_path(const struct annotate_output *o, const char *path,
				     struct err *err)
{
	if (!*path)
		return err_set(err, -EINVAL,
			       "cannot write a source file with the name '/' into %s",
			       o->dir);
	if (strtab_find(&o->written, path) != STRTAB_FAILED)
		return err_sys(
			err, -EEXIST,
			"cannot write '%s%s': another source file was already written to it",
			o->dir, path);
	/* Other programs could not open a longer path. */
	return strlen(o->dir) + strlen(path) < PATH_MAX
		       ? 0
		       : err_sys(err, -ENAMETOOLONG, "cannot write '%s%s'", o->dir,
				 path);
}

/* Creates the file in the directory that is open as `fd`. */
static int annotate_files_create(struct annotate_output *o, const char *path, int fd,
				 mode_t mode, FILE **ret_out, struct err *err)
{
	int file = openat(fd, path_base(path), O_CLOEXEC | new_file_flags, mode);
	FILE *out = file < 0 ? NULL : fdopen(file, "w");
	int r;

	if (!out) {
		r = err_sys(err, -errno, "cannot write '%s%s'", o->dir, path);
		if (file >= 0)
			close(file);
		return r;
	}
	if (strtab_add(&o->written, path) == STRTAB_FAILED) {
		fclose(out);
		return err_set(err, -ENOMEM, "out of memory");
	}
	*ret_out = out;
	return 0;
}

int annotate_output_file(struct annotate_output *o, const char *path,
			 const struct source_file *source, FILE **ret_out,
			 struct err *err)
{
	mode_t mode = output_mode(o->is_private || source->is_private);
	const char *name = "";
	int r = annotate_files_check_path(o, path, err);
	int fd;

	if (r)
		return r;
	fd = open_folders(o, path, &name, err);
	if (fd < 0)
		return fd;
	r = clear_position(o, path, fd, source, err);
	if (!r)
		r = annotate_files_create(o, path, fd, mode, ret_out, err);
	close(fd);
	return r;
}

void annotate_output_remove(const struct annotate_output *o, const char *path)
{
	const char *name = "";
	int fd = open_folders(o, path, &name, NULL);

	if (fd < 0)
		return;
	(void)unlinkat(fd, name, 0);
	close(fd);
}
