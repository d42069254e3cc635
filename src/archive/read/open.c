/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "archive/read/open.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/containers/hash.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/files/scratch.h"
#include "base/files/tree.h"
#include "format/archive/layout.h"
#include "format/archive/manifest.h"
#include "format/archive/tar.h"

enum {
	CHUNK_BYTES = 1 << 16,
	MANIFEST_MAX_BYTES = 256 << 20,
	/* Limit for unpacking, in addition to 256 MB: zstd compresses ELF files to 10-25 %, and
	 * zeros to 0.01 %. */
	RATIO_MAX = 100,
	FREE_BYTES = 256 << 20
};

struct archive {
	char *folder;
	struct scratch *unpacked; /* NULL: the archive is a directory */
};

/* A file read from the tar. */
struct unpacked_file {
	char *name;
	uint64_t hash;
	uint64_t bytes;
};

struct unpacking {
	const char *path; /* path of the archive, for messages */
	const char *folder;
	struct tar_reader *tar;
	struct hash_stream *hash;
	VEC(struct unpacked_file) files;
	struct buf manifest;
	bool has_manifest;
	uint8_t chunk[CHUNK_BYTES];
};

const char *archive_folder(const struct archive *a)
{
	return a ? a->folder : NULL;
}

void archive_close(struct archive *a)
{
	if (!a)
		return;
	scratch_free(a->unpacked);
	free(a->folder);
	free(a);
}

static int archive_open_refuse(const struct unpacking *u, const char *name,
			       const char *why, struct err *err)
{
	return err_set(err, -EBADMSG,
		       "cannot open the archive '%s': its member '%.100s' %s", u->path,
		       name, why);
}

static int check_member(const struct unpacking *u, const struct tar_member *m,
			struct err *err)
{
	if (m->kind == TAR_LINK)
		return archive_open_refuse(u, m->name, "is a link", err);
	if (m->kind == TAR_DEVICE)
		return archive_open_refuse(u, m->name, "is a device", err);
	if (m->kind == TAR_UNKNOWN)
		return archive_open_refuse(u, m->name,
					   "is neither a file nor a directory", err);
	if (m->kind == TAR_FILE && !archive_name_ok(m->name))
		return archive_open_refuse(
			u, m->name, "has a path that leads out of the archive", err);
	/* Only directories have these names, while they are written. */
	if (m->kind == TAR_FILE && (!strcmp(m->name, ARCHIVE_UNFINISHED_NAME) ||
				    !strcmp(m->name, ARCHIVE_PART_NAME)))
		return archive_open_refuse(u, m->name, "has a reserved name", err);
	if (u->files.nr >= ARCHIVE_FILES_MAX)
		return archive_open_refuse(
			u, m->name, "exceeds the maximum number of files of an archive",
			err);
	return 0;
}

static int archive_open_make_file(const struct unpacking *u, const char *name)
{
	char *path, *slash;
	int fd;

	if (asprintf(&path, "%s/%s", u->folder, name) < 0)
		return -ENOMEM;
	slash = strrchr(path, '/');
	*slash = '\0';
	fd = io_make_dirs(path, 0700);
	*slash = '/';
	if (!fd)
		fd = io_open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	free(path);
	return fd;
}

static int copy_member(struct unpacking *u, int fd, struct err *err)
{
	ssize_t n;
	int r;

	while ((n = tar_reader_get(u->tar, u->chunk, sizeof(u->chunk), err)) > 0) {
		r = io_write_holes(fd, u->chunk, (size_t)n);

		if (r)
			return err_sys(err, r, "cannot unpack into '%s'", u->folder);
		hash_stream_put(u->hash, u->chunk, (size_t)n);
	}
	r = n < 0 ? 0 : io_end_holes(fd);
	return r ? err_sys(err, r, "cannot unpack into '%s'", u->folder) : (int)n;
}

static int unpack_member(struct unpacking *u, const struct tar_member *m,
			 struct err *err)
{
	struct unpacked_file file = { .bytes = m->bytes };
	char *name;
	int fd, r;

	fd = archive_open_make_file(u, m->name);
	if (fd == -EEXIST || fd == -ENOTDIR || fd == -EISDIR)
		return archive_open_refuse(u, m->name, "occurs twice", err);
	if (fd < 0)
		return err_sys(err, fd, "cannot unpack into '%s'", u->folder);
	r = copy_member(u, fd, err);
	close(fd);
	if (r)
		return r;
	file.hash = hash_stream_end(u->hash);
	file.name = name = strdup(m->name);
	if (name && vec_push(&u->files, file))
		return 0;
	free(name);
	return err_set(err, -ENOMEM, "out of memory");
}

static int archive_open_read_manifest(struct unpacking *u, const struct tar_member *m,
				      struct err *err)
{
	ssize_t n;

	if (u->has_manifest || m->bytes > MANIFEST_MAX_BYTES)
		return archive_open_refuse(u, m->name, "occurs twice or is too large",
					   err);
	u->has_manifest = true;
	while ((n = tar_reader_get(u->tar, u->chunk, sizeof(u->chunk), err)) > 0)
		buf_put(&u->manifest, u->chunk, (size_t)n);
	if (n >= 0 && u->manifest.failed)
		return err_set(err, -ENOMEM, "out of memory");
	return (int)n;
}

static int unpack_all(struct unpacking *u, struct err *err)
{
	struct tar_member m;
	int r;

	while (!(r = tar_reader_next(u->tar, &m, err))) {
		r = check_member(u, &m, err);
		if (r)
			return r;
		if (m.kind == TAR_FOLDER)
			continue;
		r = strcmp(m.name, ARCHIVE_MANIFEST_NAME)
			    ? unpack_member(u, &m, err)
			    : archive_open_read_manifest(u, &m, err);
		if (r)
			break;
	}
	if (r > 0)
		r = tar_reader_end(u->tar, err);
	if (r < 0)
		return r == -ENOMEM || !err ? r : err_prefix(err, "%s", u->path);
	return 0;
}

static int compare_unpacked(const void *a, const void *b)
{
	const struct unpacked_file *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Sets the file's modification time as recorded, because it identifies files without a build-id. */
static void set_age(const struct unpacking *u, const struct archive_file *f)
{
	const struct timespec at = clock_timespec(f->mtime_ns);
	const struct timespec both[] = { at, at };
	char *path;

	if (asprintf(&path, "%s/%s", u->folder, f->name) < 0)
		return;
	(void)io_set_times(path, both);
	free(path);
}

static int check_files(struct unpacking *u, const struct archive_manifest *m,
		       struct err *err)
{
	if (u->files.nr > m->files.nr)
		return err_set(
			err, -EBADMSG,
			"cannot open the archive '%s': it contains files that its manifest does not list",
			u->path);
	qsort(u->files.at, u->files.nr, sizeof(*u->files.at), compare_unpacked);
	for (size_t i = 0; i < m->files.nr; i++) {
		const struct archive_file *f = &m->files.at[i];
		const struct unpacked_file key = { .name = f->name };
		const struct unpacked_file *found =
			u->files.nr ? bsearch(&key, u->files.at, u->files.nr,
					      sizeof(*u->files.at), compare_unpacked)
				    : NULL;

		if (!found)
			return archive_open_refuse(u, f->name, "is missing", err);
		if (found->bytes != f->bytes || found->hash != f->hash)
			return archive_open_refuse(u, f->name, "is damaged", err);
		set_age(u, f);
	}
	return 0;
}

/* Writes the manifest, so that the unpacked directory is also a valid archive. */
static int save_manifest(const struct unpacking *u, struct err *err)
{
	char *path;
	int r;

	if (asprintf(&path, "%s/%s", u->folder, ARCHIVE_MANIFEST_NAME) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	r = io_write_file(path, u->manifest.data, u->manifest.len, 0600);
	free(path);
	return r ? err_sys(err, r, "cannot unpack into '%s'", u->folder) : 0;
}

static int check_manifest(struct unpacking *u, struct err *err)
{
	struct archive_manifest m = { 0 };
	int r;

	if (!u->has_manifest)
		return err_set(err, -EBADMSG,
			       "'%s' is not an archive of oprofile: it contains no %s",
			       u->path, ARCHIVE_MANIFEST_NAME);
	r = archive_manifest_parse((const char *)u->manifest.data, u->manifest.len, &m,
				   err);
	if (r)
		err_prefix(err, "%s", u->path);
	else
		r = check_files(u, &m, err);
	if (!r)
		r = save_manifest(u, err);
	archive_manifest_done(&m);
	return r;
}

static void unpacking_free(struct unpacking *u)
{
	for (size_t i = 0; i < u->files.nr; i++)
		free(u->files.at[i].name);
	vec_done(&u->files);
	buf_done(&u->manifest);
	tar_reader_free(u->tar);
	hash_stream_free(u->hash);
	free(u);
}

static int archive_open_unpack(const char *path, int fd, uint64_t bytes,
			       const char *folder, struct err *err)
{
	const struct tar_source source = { tar_source_fd, &fd };
	struct unpacking *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		return err_set(err, -ENOMEM, "out of memory");
	u->path = path;
	u->folder = folder;
	u->hash = hash_stream_new();
	if (!u->hash || tar_reader_new(source, FREE_BYTES + bytes * RATIO_MAX, &u->tar))
		r = err_set(err, -ENOMEM, "out of memory");
	else
		r = unpack_all(u, err);
	if (!r)
		r = check_manifest(u, err);
	unpacking_free(u);
	return r;
}

/* Returns why an archive that is a directory must be refused, or NULL. Symbolic links could lead
 * to files of this machine. In perf's cache, small files can be copies of links. */
static const char *archive_open_refusal_reason(const struct tree_entry *entry)
{
	if (S_ISDIR(entry->st.st_mode))
		return NULL;
	if (S_ISREG(entry->st.st_mode)) {
		if (!fnmatch(ARCHIVE_CACHE "/.build-id/*/*", entry->below,
			     FNM_PATHNAME))
			return "is a link";
		return archive_name_defined(entry->below) ? NULL
							  : "has a reserved name";
	}
	return S_ISLNK(entry->st.st_mode) ? "is a link" : "is a device";
}

struct folder_check {
	const char *path;
	struct err *err;
};

static int check_entry(void *ctx, const struct tree_entry *entry)
{
	const struct folder_check *check = ctx;
	const char *why = archive_open_refusal_reason(entry);
	return why ? err_set(check->err, -EBADMSG,
			     "cannot open the archive '%s': its member '%.100s' %s",
			     check->path, entry->below, why)
		   : 0;
}

static int archive_open_check_folder(const char *path, const char *folder,
				     struct err *err)
{
	struct folder_check check = { path, err };

	return tree_walk(folder, check_entry, &check, err);
}

static int archive_open_file(const char *path, int fd, uint64_t bytes,
			     struct archive *a, struct err *err)
{
	int r = scratch_new("oparchive", &a->unpacked, err);

	if (r)
		return r;
	a->folder = strdup(scratch_folder(a->unpacked));
	if (!a->folder)
		return err_set(err, -ENOMEM, "out of memory");
	r = archive_open_unpack(path, fd, bytes, a->folder, err);
	return r ? r : archive_open_check_folder(path, a->folder, err);
}

static int check_finished(const char *path, int fd, struct err *err)
{
	if (!faccessat(fd, ARCHIVE_UNFINISHED_NAME, F_OK, AT_SYMLINK_NOFOLLOW))
		return err_set(
			err, -EBADMSG,
			"the archive '%s' is incomplete because oparchive was interrupted: run oparchive again",
			path);
	return err_is_absent(-errno) ? 0
				     : err_sys(err, -errno, "cannot stat '%s'", path);
}

static int open_either(const char *path, enum trust trust, struct archive *a,
		       struct err *err)
{
	struct stat st;
	int r, fd = io_open(path, O_RDONLY | O_NONBLOCK, 0);

	if (fd < 0)
		return err_sys(err, fd, "cannot open '%s'", path);
	r = trust_check(fd, trust, path, err);
	if (!r && fstat(fd, &st))
		r = err_sys(err, -errno, "cannot stat '%s'", path);
	if (r) {
		close(fd);
		return r;
	}
	if (S_ISDIR(st.st_mode)) {
		a->folder = realpath(path, NULL);
		r = a->folder ? archive_open_check_folder(path, a->folder, err)
			      : err_sys(err, -errno, "cannot resolve '%s'", path);
		if (!r)
			r = check_finished(path, fd, err);
	} else if (S_ISREG(st.st_mode)) {
		r = archive_open_file(path, fd, (uint64_t)st.st_size, a, err);
	} else {
		r = err_set(
			err, -EINVAL,
			"'%s' is not an archive: expected a directory or a file NAME.oparchive",
			path);
	}
	close(fd);
	return r;
}

int archive_open(const char *path, enum trust trust, struct archive **ret_archive,
		 struct err *err)
{
	struct archive *a = calloc(1, sizeof(*a));
	int r = a ? open_either(path, trust, a, err)
		  : err_set(err, -ENOMEM, "out of memory");

	if (r) {
		archive_close(a);
		return r;
	}
	*ret_archive = a;
	return 0;
}
