/* SPDX-License-Identifier: GPL-2.0-or-later */
/* index_write.c - writes index files. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/containers/hash.h"
#include "base/files/io.h"
#include "resolve/lines/index.h"

enum {
	/* Fits in the CPU's cache; using new memory costs more than the system calls. */
	WRITE_STEP = 1 << 16,
	UNIT_BYTES = 32, /* size of a unit's entry in the directory */
	COVER_BYTES = 12
};

/* Writes through a buffer, so that thousands of small blocks need few system calls. */
struct line_writer {
	pthread_mutex_t lock; /* protects everything below while blocks are added */
	char *path;
	char *part; /* each writer has its own temporary file; the last rename wins */
	int fd;
	uint64_t at; /* bytes added so far */
	struct buf pending;
	int r;
};

static void line_index_write_flush(struct line_writer *w)
{
	if (!w->r && w->pending.failed)
		w->r = -ENOMEM;
	if (!w->r)
		w->r = io_write_all(w->fd, w->pending.data, w->pending.len);
	buf_clear(&w->pending);
}

static void line_index_write_put(struct line_writer *w, const void *bytes, size_t len)
{
	if (w->pending.len && len > WRITE_STEP - w->pending.len)
		line_index_write_flush(w);
	if (len < WRITE_STEP)
		buf_put(&w->pending, bytes, len);
	else if (!w->r)
		w->r = io_write_all(w->fd, bytes, len);
	w->at += len;
}

int line_writer_open(const char *path, struct line_writer **ret_writer)
{
	static const uint8_t head[LINE_INDEX_HEAD];
	struct line_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->fd = -1;
	pthread_mutex_init(&w->lock, NULL);
	w->path = strdup(path);
	if (!w->path || asprintf(&w->part, "%s.XXXXXX", path) < 0) {
		w->part = NULL;
		line_writer_drop(w);
		return -ENOMEM;
	}
	w->fd = io_open_temp(w->part, 0, 0600);
	if (w->fd < 0) {
		int r = w->fd;

		line_writer_drop(w);
		return r;
	}
	(void)buf_reserve(&w->pending, WRITE_STEP);
	line_index_write_put(w, head, sizeof(head));
	*ret_writer = w;
	return 0;
}

void line_writer_drop(struct line_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	if (w->fd >= 0 && w->part)
		(void)io_unlink(w->part);
	pthread_mutex_destroy(&w->lock);
	buf_done(&w->pending);
	free(w->part);
	free(w->path);
	free(w);
}

void line_writer_put(struct line_writer *w, struct line_unit *u, const void *bytes)
{
	pthread_mutex_lock(&w->lock);
	u->position = w->at;
	line_index_write_put(w, bytes, u->len);
	pthread_mutex_unlock(&w->lock);
}

static bool is_at_hand(const struct line_unit *u)
{
	return u->keep &&
	       (u->state == LINE_UNIT_READY || u->state == LINE_UNIT_UNCHECKED);
}

/* Writes a unit's entry of the directory, and its block if that is not in the file yet. */
static void put_unit(struct line_writer *w, struct line_unit *u, struct buf *out)
{
	if (u->state != LINE_UNIT_WRITTEN)
		u->position = 0;
	if (is_at_hand(u))
		line_writer_put(w, u, u->block);
	buf_put_u64(out, u->off);
	buf_put_u64(out, u->position);
	buf_put_u64(out, u->hash);
	buf_put_u32(out, u->position ? u->len : 0);
	buf_put_u32(out, u->position ? LINE_UNIT_UNCHECKED : LINE_UNIT_ABSENT);
}

static void line_index_write_put_key(struct buf *out, const struct index_key *key,
				     const char *path_of)
{
	size_t len = strnlen(path_of, INDEX_PATH_MAX);

	buf_put_u32(out, key->is_build_id);
	buf_put_u32(out, key->len);
	buf_put(out, key->bytes, key->len);
	buf_put_u32(out, (uint32_t)len);
	buf_put(out, path_of, len);
}

static void line_index_write_put_head(struct line_writer *w, const struct buf *dir)
{
	struct buf head = { 0 };

	buf_put(&head, line_index_magic, sizeof(line_index_magic));
	buf_put_u32(&head, LINE_INDEX_VERSION);
	buf_put_u32(&head, 0);
	buf_put_u64(&head, w->at - dir->len);
	buf_put_u64(&head, dir->len);
	buf_put_u64(&head, hash_bytes(dir->data, dir->len, 0));
	buf_put_u64(&head, w->at);
	while (head.len < LINE_INDEX_HEAD - 8 && !head.failed)
		buf_put_u64(&head, 0);
	buf_put_u64(&head, hash_bytes(head.data, head.len, 0));
	if (head.failed)
		w->r = -ENOMEM;
	else if (!w->r && pwrite(w->fd, head.data, head.len, 0) != (ssize_t)head.len)
		w->r = -errno;
	buf_done(&head);
}

int line_writer_finish(struct line_writer *w, const struct index_key *key,
		       const char *path_of, struct line_directory *dir)
{
	struct buf out = { 0 };
	int r;

	line_index_write_put_key(&out, key, path_of);
	(void)buf_reserve(&out, (dir->units.nr + 2) * UNIT_BYTES +
					dir->covers.nr * COVER_BYTES);
	buf_put_u32(&out, (uint32_t)dir->units.nr);
	buf_put_u32(&out, (uint32_t)dir->covers.nr);
	put_unit(w, &dir->symbols, &out);
	for (size_t i = 0; i < dir->units.nr; i++)
		put_unit(w, &dir->units.at[i], &out);
	for (size_t i = 0; i < dir->covers.nr; i++) {
		buf_put_u64(&out, dir->covers.at[i].addr);
		buf_put_u32(&out, dir->covers.at[i].unit);
	}
	line_index_write_put(w, out.data, out.len);
	line_index_write_flush(w);
	if (out.failed)
		w->r = -ENOMEM;
	else
		line_index_write_put_head(w, &out);
	buf_done(&out);
	if (close(w->fd) && !w->r)
		w->r = -errno;
	w->fd = -1;
	if (!w->r)
		w->r = io_rename(w->part, w->path);
	if (w->r)
		(void)io_unlink(w->part);
	r = w->r;
	line_writer_drop(w);
	return r;
}
