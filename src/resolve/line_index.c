#include "resolve/line_index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/hash.h"
#include "base/io.h"

enum {
	UNIT_BYTES = 32,
	COVER_BYTES = 12,
	PATH_OF_MAX = 4096,
	WRITE_STEP = 1 << 20
};

static const char magic[8] = "OPLINES";

static struct line_unit read_unit(struct cursor *c, const uint8_t *map, uint64_t end)
{
	struct line_unit u = { .off = cursor_u64(c) };
	uint64_t at = cursor_u64(c);

	u.hash = cursor_u64(c);
	u.len = cursor_u32(c);
	u.state = (uint8_t)cursor_u32(c);
	u.keep = true;
	if (u.state != LINE_UNIT_ABSENT)
		u.state = LINE_UNIT_UNCHECKED;
	if (u.state == LINE_UNIT_UNCHECKED && (at > end || u.len > end - at))
		u.state = LINE_UNIT_ABSENT;
	if (u.state == LINE_UNIT_UNCHECKED)
		u.block = map + at;
	return u;
}

static void put_unit(struct buf *out, const struct line_unit *u, uint64_t at)
{
	buf_put_u64(out, u->off);
	buf_put_u64(out, at);
	buf_put_u64(out, u->hash);
	buf_put_u32(out, at ? u->len : 0);
	buf_put_u32(out, at ? LINE_UNIT_UNCHECKED : LINE_UNIT_ABSENT);
}

static bool is_key(const struct line_key *key, struct cursor *c)
{
	bool is_id = cursor_u32(c) != 0;
	uint32_t len = cursor_u32(c);
	const uint8_t *bytes = cursor_take(c, len);

	if (!bytes)
		return false;
	return !key || (key->is_build_id == is_id && key->len == len &&
			memcmp(key->bytes, bytes, len) == 0);
}

static int read_tables(struct cursor *c, const uint8_t *map, uint64_t end,
		       struct line_directory *dir)
{
	uint32_t nr_units = cursor_u32(c);
	uint32_t nr_covers = cursor_u32(c);

	if (c->failed || nr_units > cursor_left(c) / UNIT_BYTES ||
	    nr_covers > cursor_left(c) / COVER_BYTES)
		return -EBADMSG;
	if (!vec_reserve(&dir->units, nr_units + 1) ||
	    !vec_reserve(&dir->covers, nr_covers + 1))
		return -ENOMEM;
	dir->symbols = read_unit(c, map, end);
	for (uint32_t i = 0; i < nr_units; i++)
		dir->units.at[dir->units.nr++] = read_unit(c, map, end);
	for (uint32_t i = 0; i < nr_covers && !c->failed; i++) {
		struct line_cover cover = { .addr = cursor_u64(c) };

		cover.unit = cursor_u32(c);
		if (cover.unit >= nr_units)
			cover.unit = LINE_NO_UNIT;
		dir->covers.at[dir->covers.nr++] = cover;
	}
	return c->failed || cursor_left(c) ? -EBADMSG : 0;
}

/* The directory lies behind the blocks; its hash is in the head, and the head's too. */
static int read_directory(struct line_index *x, const struct line_key *key,
			  struct line_directory *dir)
{
	const uint8_t *map = x->map.bytes;
	struct cursor c = cursor_le(map, LINE_INDEX_HEAD);
	uint64_t at;
	uint64_t len;
	uint64_t hash;
	const char *path_of;
	uint32_t path_len;

	if (memcmp(cursor_take(&c, sizeof(magic)), magic, sizeof(magic)) != 0 ||
	    cursor_u32(&c) != LINE_INDEX_VERSION)
		return -EBADMSG;
	cursor_u32(&c);
	at = cursor_u64(&c);
	len = cursor_u64(&c);
	hash = cursor_u64(&c);
	if (cursor_u64(&c) != x->map.len || at < LINE_INDEX_HEAD || at > x->map.len ||
	    len != x->map.len - at)
		return -EBADMSG;
	c.pos = LINE_INDEX_HEAD - 8;
	if (cursor_u64(&c) != hash_bytes(map, LINE_INDEX_HEAD - 8, 0) ||
	    hash != hash_bytes(map + at, (size_t)len, 0))
		return -EBADMSG;
	c = cursor_le(map + at, (size_t)len);
	if (!is_key(key, &c))
		return -EBADMSG;
	path_len = cursor_u32(&c);
	path_of = cursor_take(&c, path_len);
	if (!path_of || path_len > PATH_OF_MAX)
		return -EBADMSG;
	x->path_of = strndup(path_of, path_len);
	return x->path_of ? read_tables(&c, map, at, dir) : -ENOMEM;
}

int line_index_open(struct line_index *x, const char *path, const struct line_key *key,
		    struct line_directory *dir)
{
	struct stat st;
	int fd = io_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	int r;

	*x = (struct line_index){ 0 };
	*dir = (struct line_directory){ 0 };
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < LINE_INDEX_HEAD) {
		close(fd);
		return -EBADMSG;
	}
	r = mapped_window(fd, 0, (size_t)st.st_size, &x->map);
	if (r) {
		close(fd);
		return r;
	}
	/* The time of last use, by which old ones are evicted. */
	(void)futimens(fd, (const struct timespec[]){ { .tv_nsec = UTIME_NOW },
						      { .tv_nsec = UTIME_OMIT } });
	close(fd);
	r = read_directory(x, key, dir);
	if (r) {
		line_directory_done(dir);
		line_index_close(x);
	}
	return r;
}

void line_index_close(struct line_index *x)
{
	mapped_release(&x->map);
	free(x->path_of);
	*x = (struct line_index){ 0 };
}

bool line_index_check(struct line_unit *u)
{
	if (u->state == LINE_UNIT_UNCHECKED)
		u->state = hash_bytes(u->block, u->len, 0) == u->hash
				   ? LINE_UNIT_READY
				   : LINE_UNIT_ABSENT;
	return u->state == LINE_UNIT_READY;
}

void line_directory_done(struct line_directory *dir)
{
	vec_done(&dir->units);
	vec_done(&dir->covers);
}

uint32_t line_directory_find(const struct line_directory *dir, uint64_t addr,
			     uint64_t *ret_low, uint64_t *ret_high)
{
	size_t low = 0;
	size_t high = dir->covers.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (dir->covers.at[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	*ret_low = low ? dir->covers.at[low - 1].addr : 0;
	*ret_high = low < dir->covers.nr ? dir->covers.at[low].addr : UINT64_MAX;
	return low ? dir->covers.at[low - 1].unit : (uint32_t)LINE_NO_UNIT;
}

static bool is_written(const struct line_unit *u)
{
	return u->keep &&
	       (u->state == LINE_UNIT_READY || u->state == LINE_UNIT_UNCHECKED);
}

/* Writes through a buffer, so that thousands of small blocks are few calls. */
struct writer {
	int fd;
	uint64_t at; /* bytes given so far */
	struct buf pending;
	int r;
};

static void flush(struct writer *w)
{
	if (!w->r)
		w->r = io_write_all(w->fd, w->pending.data, w->pending.len);
	buf_clear(&w->pending);
}

static uint64_t put_block(struct writer *w, const struct line_unit *u)
{
	uint64_t at = w->at;

	if (!is_written(u))
		return 0;
	if (u->len >= WRITE_STEP) {
		flush(w);
		if (!w->r)
			w->r = io_write_all(w->fd, u->block, u->len);
	} else {
		if (w->pending.len >= WRITE_STEP)
			flush(w);
		buf_put(&w->pending, u->block, u->len);
	}
	w->at += u->len;
	return at;
}

static void put_key(struct buf *out, const struct line_key *key, const char *path_of)
{
	size_t len = strnlen(path_of, PATH_OF_MAX);

	buf_put_u32(out, key->is_build_id);
	buf_put_u32(out, key->len);
	buf_put(out, key->bytes, key->len);
	buf_put_u32(out, (uint32_t)len);
	buf_put(out, path_of, len);
}

static void write_all(struct writer *w, const struct line_key *key, const char *path_of,
		      const struct line_directory *dir)
{
	struct buf out = { 0 };
	struct buf head = { 0 };
	uint8_t zeros[LINE_INDEX_HEAD] = { 0 };
	uint64_t at;

	buf_put(&w->pending, zeros, sizeof(zeros));
	w->at = sizeof(zeros);
	put_key(&out, key, path_of);
	buf_put_u32(&out, (uint32_t)dir->units.nr);
	buf_put_u32(&out, (uint32_t)dir->covers.nr);
	at = put_block(w, &dir->symbols);
	put_unit(&out, &dir->symbols, at);
	for (size_t i = 0; i < dir->units.nr; i++) {
		at = put_block(w, &dir->units.at[i]);
		put_unit(&out, &dir->units.at[i], at);
	}
	for (size_t i = 0; i < dir->covers.nr; i++) {
		buf_put_u64(&out, dir->covers.at[i].addr);
		buf_put_u32(&out, dir->covers.at[i].unit);
	}
	buf_put(&w->pending, out.data, out.len);
	flush(w);
	buf_put(&head, magic, sizeof(magic));
	buf_put_u32(&head, LINE_INDEX_VERSION);
	buf_put_u32(&head, 0);
	buf_put_u64(&head, w->at);
	buf_put_u64(&head, out.len);
	buf_put_u64(&head, hash_bytes(out.data, out.len, 0));
	buf_put_u64(&head, w->at + out.len);
	while (head.len < LINE_INDEX_HEAD - 8)
		buf_put_u64(&head, 0);
	buf_put_u64(&head, hash_bytes(head.data, LINE_INDEX_HEAD - 8, 0));
	if (head.failed || out.failed || w->pending.failed)
		w->r = -ENOMEM;
	else if (!w->r && pwrite(w->fd, head.data, head.len, 0) != (ssize_t)head.len)
		w->r = -errno;
	buf_done(&out);
	buf_done(&head);
}

int line_index_write(const char *path, const struct line_key *key, const char *path_of,
		     const struct line_directory *dir)
{
	struct writer w = { 0 };
	char *part = NULL;

	/* Each writer has a file of its own: who renames last wins. */
	if (asprintf(&part, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	w.fd = mkostemp(part, O_CLOEXEC);
	if (w.fd < 0) {
		w.r = -errno;
		free(part);
		return w.r;
	}
	write_all(&w, key, path_of, dir);
	buf_done(&w.pending);
	if (close(w.fd) && !w.r)
		w.r = -errno;
	if (!w.r && rename(part, path))
		w.r = -errno;
	if (w.r)
		unlink(part);
	free(part);
	return w.r;
}
