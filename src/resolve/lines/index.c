/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/lines/index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/hash.h"
#include "base/cursor.h"
#include "base/files/faults.h"
#include "base/files/io.h"
#include "base/files/trust.h"

const char line_index_magic[8] = "OPLINES";

enum {
	UNIT_BYTES = 32,
	COVER_BYTES = 12
};

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

static bool line_index_is_key(const struct index_key *key, struct cursor *c)
{
	bool is_id = cursor_u32(c) != 0;
	uint32_t len = cursor_u32(c);
	const uint8_t *bytes = cursor_take(c, len);

	if (!bytes)
		return false;
	return !key || (key->is_build_id == is_id && key->len == len &&
			memcmp(key->bytes, bytes, len) == 0);
}

static int line_index_read_tables(struct cursor *c, const uint8_t *map, uint64_t end,
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

/* Reads the directory, which is after the blocks. Its hash, and the header's, are in the
 * header. */
static int read_directory(struct line_index *x, const struct index_key *key,
			  struct line_directory *dir)
{
	const uint8_t *map = x->map.bytes;
	struct cursor c = cursor_le(map, LINE_INDEX_HEAD);
	uint64_t at;
	uint64_t len;
	uint64_t hash;
	const char *path_of;
	uint32_t path_len;

	if (memcmp(cursor_take(&c, sizeof(line_index_magic)), line_index_magic,
		   sizeof(line_index_magic)) != 0 ||
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
	if (!line_index_is_key(key, &c))
		return -EBADMSG;
	path_len = cursor_u32(&c);
	path_of = cursor_take(&c, path_len);
	if (!path_of || path_len > INDEX_PATH_MAX)
		return -EBADMSG;
	x->path_of = strndup(path_of, path_len);
	return x->path_of ? line_index_read_tables(&c, map, at, dir) : -ENOMEM;
}

int line_index_open(struct line_index *x, const char *path, const struct index_key *key,
		    struct line_directory *dir)
{
	struct stat st;
	int fd = io_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	int r;

	*x = (struct line_index){ 0 };
	*dir = (struct line_directory){ 0 };
	if (fd < 0)
		return fault_unreadable(path, fd);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < LINE_INDEX_HEAD ||
	    !trust_cache_file(fd, path)) {
		close(fd);
		return -EBADMSG;
	}
	r = mapped_window(fd, 0, (size_t)st.st_size, &x->map);
	if (r) {
		close(fd);
		return fault_unreadable(path, r);
	}
	/* The access time is the time of last use, for eviction. */
	(void)futimens(fd, (const struct timespec[]){ { .tv_nsec = UTIME_NOW },
						      { .tv_nsec = UTIME_OMIT } });
	close(fd);
	x->dev = st.st_dev;
	x->ino = st.st_ino;
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
