/* SPDX-License-Identifier: GPL-2.0-or-later */
/* writer.c - writes a segment file. */
#include "format/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/hash.h"
#include "base/err.h"
#include "base/files/io.h"
#include "format/session/block.h"
#include "format/session/checksums.h"
#include "format/session/dict_block.h"
#include "format/session/info.h"
#include "format/session/sample_block.h"

enum {
	DICT_BLOCK_BYTES = 1 << 20 /* a block of the dict ends after this many bytes */
};

struct segment_writer {
	int fd;
	bool torn; /* the file can contain bytes after offset `bytes` */
	char *path;
	const struct dict *dict;
	uint64_t salt;
	uint64_t bytes;          /* size of the whole blocks in the file */
	struct dict_counts done; /* the entries of the dict that are in the file */
	/* numbers after the largest ones in samples of the file */
	struct sample_next next;
	uint64_t nr_samples; /* number of samples in the file */
	VEC(struct sample) pending;
	struct buf out;
	struct dict_scratch scratch;
	struct sample_packer packer;
	struct column_encoder encoder;
};

static void session_writer_free(struct segment_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	free(w->path);
	vec_done(&w->pending);
	buf_done(&w->out);
	dict_scratch_done(&w->scratch);
	sample_packer_done(&w->packer);
	column_encoder_done(&w->encoder);
	free(w);
}

/* Appends w->out to the file after the last whole block. On an error the file is truncated to
 * that block. */
static int session_writer_write_out(struct segment_writer *w, struct err *err)
{
	int r;

	if (w->out.failed)
		return err_sys(err, -ENOMEM, "cannot write '%s'", w->path);
	if (w->torn && ftruncate(w->fd, (off_t)w->bytes))
		return err_sys(err, -errno, "cannot truncate '%s'", w->path);
	w->torn = true;
	r = io_write_all(w->fd, w->out.data, w->out.len);
	if (r) {
		if (!ftruncate(w->fd, (off_t)w->bytes))
			w->torn = false;
		return err_sys(err, r, "cannot write '%s'", w->path);
	}
	w->torn = false;
	w->bytes += w->out.len;
	return 0;
}

static int write_info(struct segment_writer *w, const struct session_info *info,
		      struct err *err)
{
	size_t begin;

	segment_header_put(&w->out, w->salt);
	begin = block_begin(&w->out);
	session_info_put(info, &w->out);
	block_end(&w->out, begin, BLOCK_INFO, w->salt);
	return session_writer_write_out(w, err);
}

/* Computes the salt of a segment. It is unique, because no process starts two segments with the
 * same name in the same nanosecond. */
static uint64_t make_salt(const struct segment_writer *w,
			  const struct session_info *info)
{
	uint64_t salt =
		hash_bytes(info->boot_id, strlen(info->boot_id), info->start_ns);

	salt = hash_bytes(info->hostname, strlen(info->hostname), salt);
	salt = hash_pair(salt, info->start_wall_ns);
	return hash_pair(salt,
			 hash_bytes(w->path, strlen(w->path), (uint64_t)getpid()));
}

/* Locks the file. Readers check the lock to find out whether the file is still being written. On a
 * file system without locks, they assume that the recorder was killed. */
static void hold_lock(const struct segment_writer *w)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	(void)fcntl(w->fd, F_OFD_SETLK, &lock);
}

/* Creates a file with the header and the info block. Returns 0 or a negative errno; after an
 * error, the file does not exist. */
static int begin_file(struct segment_writer *w, const char *path,
		      const struct session_info *info, struct err *err)
{
	int r;

	/* Use O_APPEND, so that after a truncation the next write goes to the new end. */
	w->fd = io_open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND,
			RECORDING_FILE_MODE);
	if (w->fd < 0)
		return err_sys(err, w->fd, "cannot create '%s'", w->path);
	hold_lock(w);
	buf_clear(&w->out);
	w->bytes = 0;
	r = write_info(w, info, err);
	if (!r)
		return 0;
	(void)io_unlink(path);
	close(w->fd);
	w->fd = -1;
	return r;
}

/* Creates the file under a temporary name and renames it after writing the header, so that readers
 * of the directory find a complete segment or none. */
static int begin_unseen(struct segment_writer *w, const struct session_info *info,
			struct err *err)
{
	char *path;
	int r;

	if (asprintf(&path, "%s.%d.new", w->path, (int)getpid()) < 0)
		return err_sys(err, -ENOMEM, "cannot create '%s'", w->path);
	/* A killed process with the same pid may have left this file. */
	(void)io_unlink(path);
	r = begin_file(w, path, info, err);
	if (!r && (r = io_rename_new(path, w->path))) {
		err_sys(err, r, "cannot create '%s'", w->path);
		(void)io_unlink(path);
		close(w->fd);
		w->fd = -1;
	}
	free(path);
	return r;
}

int segment_writer_open(const char *path, const struct session_info *info,
			const struct dict *dict, struct segment_writer **ret_writer,
			struct err *err)
{
	struct segment_writer *w = calloc(1, sizeof(*w));
	struct session_info with_flags = *info;
	int r;

	if (!w)
		return err_sys(err, -ENOMEM, "cannot create '%s'", path);
	if (checksums_has_list(path))
		with_flags.flags |= SESSION_CHECKSUMS;
	w->fd = -1;
	w->dict = dict;
	w->done = dict_counts_none();
	w->packer.ends = &w->scratch.ends;
	w->path = strdup(path);
	if (!w->path || column_encoder_init(&w->encoder)) {
		session_writer_free(w);
		return err_sys(err, -ENOMEM, "cannot create '%s'", path);
	}
	w->salt = make_salt(w, info);
	r = begin_unseen(w, &with_flags, err);
	/* If the file system cannot rename without overwriting, create the file directly: readers
	 * can then briefly see a file without a header. */
	if (r && r != -EEXIST)
		r = begin_file(w, w->path, &with_flags, err);
	if (r) {
		session_writer_free(w);
		return r;
	}
	*ret_writer = w;
	return 0;
}

void segment_writer_coarsen(struct segment_writer *w, uint64_t unit_ns)
{
	w->packer.time_units = (uint32_t)(unit_ns / SAMPLE_TIME_UNIT_NS);
	w->scratch.is_whole = true;
}

int segment_writer_add(struct segment_writer *w, const struct sample *sample)
{
	return vec_push(&w->pending, *sample) ? 0 : -ENOMEM;
}

size_t segment_writer_pending(const struct segment_writer *w)
{
	return w->pending.nr;
}

uint64_t segment_writer_bytes(const struct segment_writer *w)
{
	return w->bytes;
}

bool segment_writer_is_removed(const struct segment_writer *w)
{
	struct stat st;

	return !fstat(w->fd, &st) && !st.st_nlink;
}

static int put_dict(struct segment_writer *w, struct dict_counts *done)
{
	int r;

	do {
		size_t begin = block_begin(&w->out);
		size_t empty = w->out.len;

		do
			r = dict_pack(w->dict, done, &w->scratch, &w->encoder, &w->out);
		while (!r && w->out.len - begin < DICT_BLOCK_BYTES);
		if (r < 0)
			return r;
		if (w->out.len == empty)
			w->out.len = begin;
		else
			block_end(&w->out, begin, BLOCK_DICT, w->salt);
	} while (!r);
	return 0;
}

static int session_writer_put_samples(struct segment_writer *w,
				      struct sample_next *next)
{
	size_t nr;

	for (size_t first = 0; first < w->pending.nr; first += nr) {
		size_t begin = block_begin(&w->out);
		int r;

		nr = w->pending.nr - first;
		if (nr > SAMPLES_PER_BLOCK)
			nr = SAMPLES_PER_BLOCK;
		r = sample_pack(&w->packer, w->pending.at + first, nr, next,
				&w->encoder, &w->out);
		if (r)
			return r;
		block_end(&w->out, begin, BLOCK_SAMPLES, w->salt);
	}
	return 0;
}

/* Appends the totals to w->out. Readers compare `nr_samples` with the number of samples that they
 * find. */
static void session_writer_put_totals(struct segment_writer *w,
				      const struct session_totals *totals,
				      uint64_t nr_samples)
{
	struct session_totals exact = *totals;
	size_t begin = block_begin(&w->out);

	exact.samples = nr_samples;
	session_totals_put(&exact, &w->out);
	block_end(&w->out, begin, BLOCK_TOTALS, w->salt);
}

static int session_writer_flush(struct segment_writer *w,
				const struct session_totals *totals, bool end,
				struct err *err)
{
	struct dict_counts done = w->done;
	struct sample_next next = w->next;
	uint64_t nr_samples = w->nr_samples + w->pending.nr;
	int r;

	buf_clear(&w->out);
	/* Drop the chains of a flush that failed. */
	w->scratch.ends.stacks.nr = done.nr_chains;
	r = put_dict(w, &done);
	if (!r)
		r = session_writer_put_samples(w, &next);
	if (r)
		return err_sys(err, r, "cannot write '%s'", w->path);
	session_writer_put_totals(w, totals, nr_samples);
	if (end)
		block_end(&w->out, block_begin(&w->out), BLOCK_END, w->salt);
	r = session_writer_write_out(w, err);
	if (r)
		return r;
	w->done = done;
	w->next = next;
	w->nr_samples = nr_samples;
	w->pending.nr = 0;
	return 0;
}

int segment_writer_flush(struct segment_writer *w, const struct session_totals *totals,
			 struct err *err)
{
	return session_writer_flush(w, totals, false, err);
}

static int session_writer_close_file(struct segment_writer *w, int r, struct err *err)
{
	int fd = w->fd;

	/* Do not call fsync(): it is only needed against a crash of the machine, not of the
	 * recorder. */
	w->fd = -1;
	if (close(fd) && !r)
		r = err_sys(err, -errno, "cannot close '%s'", w->path);
	session_writer_free(w);
	return r;
}

int segment_writer_close(struct segment_writer *w, const struct session_totals *totals,
			 struct err *err)
{
	return session_writer_close_file(w, session_writer_flush(w, totals, true, err),
					 err);
}

size_t segment_writer_drop(struct segment_writer *w)
{
	size_t nr = w->pending.nr;

	w->pending.nr = 0;
	return nr;
}

int segment_writer_abandon(struct segment_writer *w,
			   const struct session_totals *totals, struct err *err)
{
	struct session_totals with_loss = *totals;
	int r = session_writer_flush(w, totals, false, err);

	if (r) {
		with_loss.dropped += segment_writer_drop(w);
		buf_clear(&w->out);
		session_writer_put_totals(w, &with_loss, w->nr_samples);
		(void)session_writer_write_out(w, NULL);
	}
	return session_writer_close_file(w, r, err);
}
