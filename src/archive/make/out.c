/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "archive/make/out.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/make/names.h"
#include "base/clock.h"
#include "base/containers/hash.h"
#include "base/err.h"
#include "base/files/guard.h"
#include "base/files/io.h"
#include "base/files/output.h"
#include "base/files/public_file.h"
#include "base/files/scratch.h"
#include "base/files/tree.h"
#include "base/log.h"
#include "format/archive/layout.h"
#include "format/archive/manifest.h"
#include "format/archive/tar.h"
#include "resolve/elf/file.h"

enum {
	CHUNK_BYTES = 1 << 16,
	PROC_MAX_BYTES = 256 << 20
};

struct archive_out {
	char *path;
	enum archive_form form;
	bool made_folder;
	bool is_whole;
	bool is_guarded;
	/* The temporary directory that contains `part`; NULL: the output is a directory. */
	struct scratch *making;
	char *part; /* temporary name of the archive, or of a file in the directory */
	int fd;     /* descriptor of `part` while it is open, otherwise -1 */
	struct tar_writer *tar;
	bool is_private;  /* the current file: not every user can read it */
	bool any_private; /* some file so far was private */
	struct hash_stream *hash;
	struct archive_manifest manifest;
	struct archive_names names;
	const elf_spans *without; /* spans of the current file to blank; NULL: none */
	size_t next_without;
	uint8_t chunk[CHUNK_BYTES];
};

/* Checks that the archive may be written to its path: a file that exists there must be one that
 * may be replaced. */
static int check_target(const struct archive_out *out, struct err *err)
{
	char *target = NULL;
	int r = output_target(out->path, &target, err);

	free(target);
	return r;
}

static int archive_out_open_file(struct archive_out *out, struct err *err)
{
	enum packing packing =
		out->form == ARCHIVE_FILE ? PACKING_ZSTD : packing_of_name(out->path);
	int r = check_target(out, err);

	if (!r)
		r = scratch_new_next_to(out->path, &out->making, err);
	if (r)
		return r;
	if (asprintf(&out->part, "%s/archive", scratch_folder(out->making)) < 0) {
		out->part = NULL;
		return err_set(err, -ENOMEM, "out of memory");
	}
	out->fd = io_open(out->part, O_WRONLY | O_CREAT | O_EXCL, 0644);
	if (out->fd < 0)
		return err_sys(err, out->fd, "cannot write '%s'", out->path);
	r = tar_writer_new(out->fd, packing, &out->tar);
	if (r == -EOPNOTSUPP)
		return err_set(err, r,
			       "cannot write '%s': this build does not support bzip2: "
			       "use --output with a name that ends in .tar.zst or .tar",
			       out->path);
	return r ? err_set(err, r, "out of memory") : 0;
}

/* Returns the path of the file that marks a directory as incomplete (malloc'd). Reports refuse an
 * archive while it exists. */
static char *unfinished_path(const struct archive_out *out)
{
	char *path;

	return asprintf(&path, "%s/%s", out->path, ARCHIVE_UNFINISHED_NAME) < 0 ? NULL
										: path;
}

static int mark_unfinished(const struct archive_out *out)
{
	char *path = unfinished_path(out);
	int fd =
		path ? io_open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0644)
		     : -ENOMEM;

	free(path);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int mark_finished(const struct archive_out *out)
{
	char *path = unfinished_path(out);
	int r = path ? io_unlink(path) : -ENOMEM;

	free(path);
	return r;
}

static int open_folder(struct archive_out *out, struct err *err)
{
	bool is_new = access(out->path, F_OK) && errno == ENOENT;
	int fd = output_make_dir(out->path, 0755, err);
	int r;

	if (fd < 0)
		return fd;
	out->made_folder = is_new;
	r = guard_add_all(out->path, fd);
	close(fd);
	out->is_guarded = !r;
	if (!r)
		r = mark_unfinished(out);
	return r ? err_sys(err, r, "cannot write '%s'", out->path) : 0;
}

int archive_out_new(const char *path, enum archive_form form,
		    struct archive_out **ret_out, struct err *err)
{
	struct archive_out *out = calloc(1, sizeof(*out));
	int r;

	if (!out)
		return err_set(err, -ENOMEM, "out of memory");
	out->fd = -1;
	out->form = form;
	out->path = strdup(path);
	out->hash = hash_stream_new();
	if (!out->path || !out->hash)
		r = err_set(err, -ENOMEM, "out of memory");
	else
		r = form == ARCHIVE_FOLDER ? open_folder(out, err)
					   : archive_out_open_file(out, err);
	if (r) {
		archive_out_free(out);
		return r;
	}
	*ret_out = out;
	return 0;
}

static void remove_all_in(const char *path)
{
	int fd = io_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	while (dir && (entry = tree_next(dir)))
		(void)io_remove_tree_at(fd, entry->d_name);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

/* Removes incomplete output.  In a directory that existed before, removes only the current file. */
static void archive_out_remove_torn(struct archive_out *out)
{
	if (out->made_folder)
		remove_all_in(out->path);
	else if (out->part)
		(void)io_unlink(out->part);
}

void archive_out_free(struct archive_out *out)
{
	if (!out)
		return;
	tar_writer_free(out->tar);
	if (out->fd >= 0)
		close(out->fd);
	if (out->form == ARCHIVE_FOLDER && !out->is_whole)
		archive_out_remove_torn(out);
	if (out->made_folder && !out->is_whole)
		(void)mark_finished(out);
	if (out->is_guarded)
		guard_drop_path(out->path);
	/* If some files could not be removed, mark the rest as unfinished. */
	if (out->made_folder && !out->is_whole && io_rmdir(out->path))
		(void)mark_unfinished(out);
	scratch_free(out->making);
	hash_stream_free(out->hash);
	archive_manifest_done(&out->manifest);
	archive_names_done(&out->names);
	free(out->part);
	free(out->path);
	free(out);
}

bool archive_out_has(const struct archive_out *out, const char *name)
{
	return archive_names_find(&out->names, name) != MAP_NONE;
}

bool archive_out_conflicts(const struct archive_out *out, const char *name,
			   const struct stat *st)
{
	return archive_names_check(&out->names, name, st) == ARCHIVE_NAME_OTHER;
}

/* ---- writing one file: name and size, bytes, end ---- */

/* Returns OUT/NAME (malloc'd), and creates the directories above it. */
static int path_in_folder(const struct archive_out *out, const char *name,
			  char **ret_path)
{
	char *path, *slash;
	int r;

	if (asprintf(&path, "%s/%s", out->path, name) < 0)
		return -ENOMEM;
	slash = strrchr(path, '/');
	*slash = '\0';
	r = io_make_dirs(path, 0755);
	*slash = '/';
	*ret_path = path;
	if (r)
		free(path);
	return r;
}

/* Begins a file in a directory, under a temporary name, so that an existing file is only replaced
 * by a complete one. No file of an archive can have the temporary name. */
static int begin_in_folder(struct archive_out *out)
{
	char *path;
	int r = path_in_folder(out, ARCHIVE_PART_NAME, &path);

	if (r)
		return r;
	/* Remove an older temporary file, which other users may own or have open. */
	(void)io_unlink(path);
	r = io_open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
		    out->is_private ? 0600 : 0644);
	if (r >= 0 && out->is_private && fchmod(r, 0600)) {
		int failed = -errno;

		close(r);
		r = failed;
	}
	if (r < 0) {
		free(path);
		return r;
	}
	out->fd = r;
	out->part = path;
	return 0;
}

static int end_in_folder(struct archive_out *out, const struct archive_file *f)
{
	const struct timespec at = clock_timespec(f->mtime_ns);
	const struct timespec both[] = { at, at };
	char *path;
	int r = io_end_holes(out->fd);

	(void)futimens(out->fd, both);
	if (close(out->fd) && !r)
		r = -errno;
	out->fd = -1;
	if (!r)
		r = path_in_folder(out, f->name, &path);
	if (r)
		return r;
	r = io_rename(out->part, path);
	free(path);
	if (r)
		return r;
	free(out->part);
	out->part = NULL;
	return 0;
}

static int archive_out_begin(struct archive_out *out, const struct archive_file *f)
{
	return out->tar ? tar_writer_begin(out->tar, f->name, f->bytes,
					   f->mtime_ns / NS_PER_S)
			: begin_in_folder(out);
}

static int archive_out_put(struct archive_out *out, const void *bytes, size_t len)
{
	hash_stream_put(out->hash, bytes, len);
	return out->tar ? tar_writer_put(out->tar, bytes, len)
			: io_write_holes(out->fd, bytes, len);
}

static int archive_out_end(struct archive_out *out, struct archive_file *f)
{
	int r = out->tar ? tar_writer_end(out->tar) : end_in_folder(out, f);

	f->hash = hash_stream_end(out->hash);
	return r;
}

static int write_bytes(struct archive_out *out, struct archive_file *f,
		       const void *bytes, size_t len)
{
	int r;

	f->bytes = len;
	r = archive_out_begin(out, f);
	if (!r)
		r = archive_out_put(out, bytes, len);
	return r ? r : archive_out_end(out, f);
}

/* Zeroes the parts of a chunk, read at offset `at`, that are in spans to leave out. */
static void archive_out_blank(struct archive_out *out, uint64_t at, size_t len)
{
	while (out->without && out->next_without < out->without->nr) {
		const struct elf_span *s = &out->without->at[out->next_without];
		uint64_t from = s->offset > at ? s->offset : at;
		uint64_t end = s->end < at + len ? s->end : at + len;

		if (from < end)
			memset(out->chunk + (from - at), 0, (size_t)(end - from));
		if (s->end > at + len)
			break;
		out->next_without++;
	}
}

/* Copies `f->bytes` bytes; bytes appended to the file meanwhile are not archived. */
static int archive_out_copy(struct archive_out *out, struct archive_file *f, int fd)
{
	uint64_t at = 0;
	int r = archive_out_begin(out, f);

	while (!r && at < f->bytes) {
		size_t want = f->bytes - at < CHUNK_BYTES ? (size_t)(f->bytes - at)
							  : CHUNK_BYTES;
		ssize_t n = io_pread_full(fd, out->chunk, want, at);

		if (n < 0)
			return (int)n;
		if ((size_t)n < want)
			return -ESTALE; /* the file was truncated meanwhile */
		archive_out_blank(out, at, want);
		r = archive_out_put(out, out->chunk, want);
		at += want;
	}
	return r ? r : archive_out_end(out, f);
}

/* Copies a file in /proc. It reports no size, so the whole file is read before it is written.
 * Returns 0 or a negative errno. */
static int copy_unsized(struct archive_out *out, struct archive_file *f, int fd)
{
	struct buf bytes = { 0 };
	int r = io_read_fd(fd, &bytes, PROC_MAX_BYTES);

	if (!r)
		r = write_bytes(out, f, bytes.data, bytes.len);
	buf_done(&bytes);
	return r;
}

/* If `is_private`, makes the output readable only by its owner. Call it before writing the bytes
 * of each file. */
static int keep_private(struct archive_out *out, bool is_private)
{
	out->is_private = is_private;
	out->any_private |= is_private;
	if (!out->tar)
		return 0;
	tar_writer_private(out->tar, is_private);
	return is_private && fchmod(out->fd, 0600) ? -errno : 0;
}

/* Copies an open file. Skips sparse files with large holes: compressing them would take minutes,
 * and archive_open() would refuse the archive, because it unpacks to far more than its size. */
static int copy_open(struct archive_out *out, struct archive_file *f, int fd,
		     const char *from)
{
	struct stat st;
	int r;

	if (fstat(fd, &st)) {
		r = -errno;
	} else if (!S_ISREG(st.st_mode)) {
		r = -EINVAL;
	} else if (io_is_hollow(fd)) {
		r = ARCHIVE_OUT_HOLLOW;
	} else {
		f->bytes = (uint64_t)st.st_size;
		f->mtime_ns = clock_ns(st.st_mtim);
		r = keep_private(out, !public_file(fd, from));
		if (!r)
			r = f->bytes ? archive_out_copy(out, f, fd)
				     : copy_unsized(out, f, fd);
	}
	return r;
}

static int copy_from(struct archive_out *out, struct archive_file *f, const char *from)
{
	int fd = elf_open_unreported(from);
	int r = fd < 0 ? fd : copy_open(out, f, fd, from);

	if (fd >= 0)
		close(fd);
	return r;
}

/* The source of a new file: a file on disk, or bytes in memory. */
struct content {
	int fd_plus_1;    /* descriptor plus 1 if the file is already open, else 0 */
	const char *from; /* path of the file; NULL: use `bytes` */
	const elf_spans *without; /* spans to blank; NULL: none */
	const void *bytes;
	size_t len;
	bool is_private; /* not every user can read `bytes` at their origin */
};

static int add_bytes(struct archive_out *out, struct archive_file *f,
		     const struct content *content)
{
	int r = keep_private(out, content->is_private);

	return r ? r : write_bytes(out, f, content->bytes, content->len);
}

static int archive_out_add_content(struct archive_out *out,
				   const struct content *content, const char *name)
{
	struct archive_file f = { .name = strdup(name) };
	int r = -ENOMEM;

	out->without = content->without;
	out->next_without = 0;
	if (f.name && content->fd_plus_1)
		r = copy_open(out, &f, content->fd_plus_1 - 1, content->from);
	else if (f.name)
		r = content->from ? copy_from(out, &f, content->from)
				  : add_bytes(out, &f, content);
	if (!r)
		r = archive_manifest_file(&out->manifest, &f);
	if (!r && content->without && content->without->nr)
		r = archive_manifest_parts(&out->manifest, name);
	free(f.name);
	return r;
}

/* Stores the attributes of the source file in *st and returns it; NULL if the content is in
 * memory, or the file was removed. */
static const struct stat *stat_content(const struct content *content, struct stat *st)
{
	if (content->fd_plus_1)
		return fstat(content->fd_plus_1 - 1, st) ? NULL : st;
	return content->from && !io_stat(content->from, st) ? st : NULL;
}

static int archive_out_add_once(struct archive_out *out, const struct content *content,
				const char *name)
{
	struct stat st;
	const struct stat *known = stat_content(content, &st);
	int r;

	if (!archive_name_ok(name))
		return ARCHIVE_OUT_NAME;
	switch (archive_names_check(&out->names, name, known)) {
	case ARCHIVE_NAME_SAME:
		return 0;
	case ARCHIVE_NAME_OTHER:
		return ARCHIVE_OUT_TAKEN;
	case ARCHIVE_NAME_FREE:
	default:
		r = archive_out_add_content(out, content, name);
		return r ? r : archive_names_add(&out->names, name, known);
	}
}

/* Reports an error of a file. For an open file, the message contains the name in the archive,
 * which is clearer than "/proc/self/fd/5". */
static int archive_out_said(const struct archive_out *out, int r, const char *from,
			    const char *name, struct err *err)
{
	if (!strncmp(from, "/proc/self/fd/", 14))
		from = name;
	if (r == ARCHIVE_OUT_TAKEN)
		log_say(LOG_WARNING,
			"%s is not archived: another file in the archive has its name",
			from);
	if (r == ARCHIVE_OUT_HOLLOW)
		log_say(LOG_WARNING,
			"%s is not archived: it is a sparse file that consists almost entirely of holes",
			from);
	return r < 0 ? err_sys(err, r, "cannot copy '%s' into the archive '%s'", from,
			       out->path)
		     : r;
}

int archive_out_add(struct archive_out *out, const char *from, const char *name,
		    struct err *err)
{
	const struct content content = { .from = from };

	return archive_out_said(out, archive_out_add_once(out, &content, name), from,
				name, err);
}

int archive_out_add_open(struct archive_out *out, const struct archive_open *file,
			 const char *name, struct err *err)
{
	const struct content content = { .fd_plus_1 = file->fd + 1,
					 .from = file->from,
					 .without = file->without };

	return archive_out_said(out, archive_out_add_once(out, &content, name),
				file->from, name, err);
}

int archive_out_add_bytes(struct archive_out *out, const struct archive_bytes *bytes,
			  const char *name, struct err *err)
{
	const struct content content = { .bytes = bytes->bytes,
					 .len = bytes->len,
					 .is_private = bytes->is_private };
	int r = archive_out_add_once(out, &content, name);

	return r < 0 ? err_sys(err, r, "cannot copy '%s' into the archive '%s'", name,
			       out->path)
		     : r;
}

int archive_out_link(struct archive_out *out, const char *name, const char *target,
		     struct err *err)
{
	int r = 0;

	if (archive_names_check(&out->names, name, NULL) == ARCHIVE_NAME_FREE) {
		r = tar_writer_link(out->tar, name, target);
		if (!r)
			r = archive_names_add(&out->names, name, NULL);
	}
	return r ? err_sys(err, r, "cannot write '%s'", out->path) : 0;
}

size_t archive_out_files(const struct archive_out *out)
{
	return out->manifest.files.nr;
}

int archive_out_image(struct archive_out *out, const char *build_id, bool found,
		      const char *name, struct err *err)
{
	return archive_manifest_image(&out->manifest, build_id, found, name)
		       ? err_set(err, -ENOMEM, "out of memory")
		       : 0;
}

int archive_out_source(struct archive_out *out, bool found, const char *name,
		       struct err *err)
{
	return archive_manifest_source(&out->manifest, found, name)
		       ? err_set(err, -ENOMEM, "out of memory")
		       : 0;
}

static int close_file(struct archive_out *out)
{
	int r = tar_writer_finish(out->tar);

	if (close(out->fd) && !r)
		r = -errno;
	out->fd = -1;
	if (!r)
		r = io_rename(out->part, out->path);
	return r;
}

static int write_manifest(struct archive_out *out)
{
	static char name[] = ARCHIVE_MANIFEST_NAME;
	struct archive_file f = { .name = name };
	struct buf text = { 0 };
	int r;

	/* The manifest is private if some file is, because it contains the names and checksums of
	 * private files. */
	r = keep_private(out, out->any_private);
	if (r)
		return r;
	archive_manifest_put(&out->manifest, &text);
	r = text.failed ? -ENOMEM : write_bytes(out, &f, text.data, text.len);
	buf_done(&text);
	return r;
}

int archive_out_finish(struct archive_out *out, struct err *err)
{
	int r = out->form == ARCHIVE_TAR ? 0 : write_manifest(out);

	if (!r && out->tar)
		r = close_file(out);
	if (!r && out->form == ARCHIVE_FOLDER)
		r = mark_finished(out);
	out->is_whole = !r;
	return r ? err_sys(err, r, "cannot write '%s'", out->path) : 0;
}
