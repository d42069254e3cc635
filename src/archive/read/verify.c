/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "archive/read/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/read/open.h"
#include "base/containers/hash.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/log.h"
#include "format/archive/layout.h"
#include "format/archive/manifest.h"

enum {
	CHUNK_BYTES = 1 << 16,
	MANIFEST_MAX_BYTES = 256 << 20
};

struct verify {
	const char *path;
	const char *folder;
	struct hash_stream *hash;
	struct archive_verified found;
	uint8_t chunk[CHUNK_BYTES];
};

/* Computes the hash of a file. Returns 0 or the error of reading it. */
static int archive_verify_hash_file(struct verify *v, const char *path,
				    uint64_t *ret_bytes, uint64_t *ret_hash)
{
	int fd = io_open_regular(path, O_NOFOLLOW);
	uint64_t at = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	while ((n = io_pread_full(fd, v->chunk, sizeof(v->chunk), at)) > 0) {
		hash_stream_put(v->hash, v->chunk, (size_t)n);
		at += (uint64_t)n;
	}
	close(fd);
	*ret_bytes = at;
	*ret_hash = hash_stream_end(v->hash);
	return (int)n;
}

static int verify_file(struct verify *v, const struct archive_file *f)
{
	uint64_t bytes = 0, hash = 0;
	char *path;
	int r;

	if (asprintf(&path, "%s/%s", v->folder, f->name) < 0)
		return -ENOMEM;
	r = archive_verify_hash_file(v, path, &bytes, &hash);
	free(path);
	v->found.nr_files++;
	if (!r && bytes == f->bytes && hash == f->hash)
		return 0;
	v->found.nr_bad++;
	if (r)
		log_say(LOG_WARNING, "'%s': cannot check '%s': %s", v->path, f->name,
			strerror(-r));
	else
		log_say(LOG_WARNING, "'%s': '%s' is damaged", v->path, f->name);
	return 0;
}

static int archive_verify_read_manifest(const struct verify *v,
					struct archive_manifest *m, struct err *err)
{
	struct buf text = { 0 };
	char *path;
	int r;

	if (asprintf(&path, "%s/%s", v->folder, ARCHIVE_MANIFEST_NAME) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	r = io_read_file(path, &text, MANIFEST_MAX_BYTES);
	free(path);
	if (r == -ENOENT)
		r = err_set(err, r, "%s has no %s to compare with", v->path,
			    ARCHIVE_MANIFEST_NAME);
	else if (r)
		r = err_sys(err, r, "cannot read '%s/%s'", v->path,
			    ARCHIVE_MANIFEST_NAME);
	else
		r = archive_manifest_parse((const char *)text.data, text.len, m, err);
	buf_done(&text);
	return r;
}

static int verify_all(struct verify *v, struct err *err)
{
	struct archive_manifest m = { 0 };
	int r = archive_verify_read_manifest(v, &m, err);

	for (size_t i = 0; !r && i < m.files.nr; i++)
		if (verify_file(v, &m.files.at[i]))
			r = err_set(err, -ENOMEM, "out of memory");
	archive_manifest_done(&m);
	return r;
}

int archive_verify(const char *path, enum trust trust,
		   struct archive_verified *ret_found, struct err *err)
{
	struct verify *v = calloc(1, sizeof(*v));
	struct archive *archive = NULL;
	int r;

	if (!v)
		return err_set(err, -ENOMEM, "out of memory");
	v->path = path;
	v->hash = hash_stream_new();
	r = v->hash ? archive_open(path, trust, &archive, err)
		    : err_set(err, -ENOMEM, "out of memory");
	if (!r) {
		v->folder = archive_folder(archive);
		r = verify_all(v, err);
	}
	if (!r)
		*ret_found = v->found;
	archive_close(archive);
	hash_stream_free(v->hash);
	free(v);
	return r;
}
