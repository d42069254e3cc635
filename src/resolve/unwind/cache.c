/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/unwind/cache.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/containers/hash.h"
#include "base/cursor.h"
#include "base/files/faults.h"
#include "base/files/io.h"
#include "base/files/trust.h"
#include "base/log.h"
#include "resolve/elf/build_id.h"
#include "resolve/elf/file.h"
#include "resolve/find/index_cache.h"

enum {
	VERSION = 3,
	HEAD_BYTES = 160,
	KEY_AT = 80,
	SET_BYTES = 13,
	RULE_BYTES = 6,
	ROW_BYTES = 8,
	BUCKET_BYTES = 4,
	FLAG_64 = 1,
	FLAG_BIG = 2, /* the binary is big-endian */
	FLAG_DEBUG = 4,
	FILE_KEY_BYTES = 4 * 8,
	WORTH_ROWS = 1024, /* smaller tables are built as fast as they are read */
	BIG_ENDIAN_HERE = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
};

static const char magic[8] = "OPUNWND";

/* The values in the file header. */
struct unwind_cache_head {
	uint16_t machine;
	uint16_t flags;
	uint64_t base;
	uint32_t nr_rows;
	uint32_t nr_buckets;
	uint32_t nr_sets;
	uint32_t nr_rules;
	uint32_t code_bytes;
	uint32_t bucket_shift;
	uint32_t path_bytes;
	uint64_t rows_hash; /* of rows and buckets */
	uint64_t rest_hash;
};

/* ---- writing ---- */

static void put_words(struct buf *out, const void *words, size_t nr)
{
	const uint32_t *at = words;

	if (!nr)
		return;
	if (!BIG_ENDIAN_HERE) {
		buf_put(out, words, nr * sizeof(*at));
		return;
	}
	for (size_t i = 0; i < nr; i++)
		buf_put_u32(out, at[i]);
}

static void unwind_cache_put_rest(struct buf *out, const struct unwind_table *t,
				  const char *path_of)
{
	for (size_t i = 0; i < t->sets.nr; i++) {
		const struct unwind_set *s = &t->sets.at[i];

		buf_put_u8(out, s->base);
		buf_put_u8(out, s->reg);
		buf_put_u8(out, s->is_signal);
		buf_put_u8(out, s->nr_rules);
		buf_put_u8(out, s->return_slot);
		buf_put_u32(out, (uint32_t)s->offset);
		buf_put_u32(out, s->first_rule);
	}
	for (size_t i = 0; i < t->rules.nr; i++) {
		buf_put_u8(out, t->rules.at[i].slot);
		buf_put_u8(out, t->rules.at[i].how);
		buf_put_u32(out, (uint32_t)t->rules.at[i].value);
	}
	if (t->code.nr)
		buf_put(out, t->code.at, t->code.nr);
	buf_put(out, path_of, strlen(path_of));
}

static void unwind_cache_put_head(struct buf *out, const struct unwind_cache_key *key,
				  const struct unwind_table *t, const struct buf *rest,
				  const struct buf *rows, size_t path_bytes)
{
	bool big = t->swap != (bool)BIG_ENDIAN_HERE;

	buf_put(out, magic, sizeof(magic));
	buf_put_u32(out, VERSION);
	buf_put_u16(out, t->arch->elf_machine);
	buf_put_u16(out,
		    (uint16_t)((t->arch->is64 ? FLAG_64 : 0) | (big ? FLAG_BIG : 0) |
			       (key->with_debug ? FLAG_DEBUG : 0)));
	buf_put_u64(out, t->base);
	buf_put_u32(out, (uint32_t)t->rows.nr);
	buf_put_u32(out, (uint32_t)t->buckets.nr);
	buf_put_u32(out, (uint32_t)t->sets.nr);
	buf_put_u32(out, (uint32_t)t->rules.nr);
	buf_put_u32(out, (uint32_t)t->code.nr);
	buf_put_u32(out, t->bucket_shift);
	buf_put_u32(out, (uint32_t)path_bytes);
	buf_put_u32(out, key->id.len);
	buf_put_u64(out, hash_bytes(rows->data, rows->len, 0));
	buf_put_u64(out, hash_bytes(rest->data, rest->len, 0));
	buf_put_u64(out, HEAD_BYTES + rest->len + rows->len);
	buf_put(out, key->id.bytes, INDEX_KEY_MAX);
	while (out->len < HEAD_BYTES - 8 && !out->failed)
		buf_put_u8(out, 0);
	buf_put_u64(out, hash_bytes(out->data, out->len, 0));
}

static int unwind_cache_write_to(int fd, const struct unwind_cache_key *key,
				 const char *path_of, const struct unwind_table *t)
{
	struct buf rest = { 0 }, rows = { 0 }, head = { 0 };
	int r = -ENOMEM;

	unwind_cache_put_rest(&rest, t, path_of);
	put_words(&rows, t->rows.at, t->rows.nr * 2);
	put_words(&rows, t->buckets.at, t->buckets.nr);
	if (!rest.failed && !rows.failed) {
		unwind_cache_put_head(&head, key, t, &rest, &rows, strlen(path_of));
		r = head.failed ? -ENOMEM : io_write_all(fd, head.data, head.len);
	}
	if (!r)
		r = io_write_all(fd, rest.data, rest.len);
	if (!r)
		r = io_write_all(fd, rows.data, rows.len);
	buf_done(&rest);
	buf_done(&rows);
	buf_done(&head);
	return r;
}

int unwind_cache_put(int fd, const struct unwind_table *t)
{
	const struct unwind_cache_key key = { .with_debug = false };

	return unwind_cache_write_to(fd, &key, "", t);
}

/* Each writer has its own temporary file; the last one to rename it wins. */
int unwind_cache_write(const char *path, const struct unwind_cache_key *key,
		       const char *path_of, const struct unwind_table *t)
{
	char *part = NULL;
	int fd, r;

	if (asprintf(&part, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = io_open_temp(part, 0, 0600);
	r = fd < 0 ? fd : unwind_cache_write_to(fd, key, path_of, t);
	if (fd >= 0 && close(fd) && !r)
		r = -errno;
	if (!r)
		r = io_rename(part, path);
	if (r && fd >= 0)
		(void)io_unlink(part);
	free(part);
	return r;
}

/* ---- reading ---- */

static bool unwind_cache_is_key(const struct unwind_cache_key *key,
				const struct cursor *head, uint32_t len,
				unsigned int flags)
{
	return !key ||
	       (key->id.len == len && key->id.is_build_id &&
		key->with_debug == !!(flags & FLAG_DEBUG) && len <= INDEX_KEY_MAX &&
		memcmp(key->id.bytes, head->data + KEY_AT, len) == 0);
}

static uint64_t rest_bytes(const struct unwind_cache_head *h)
{
	return (uint64_t)h->nr_sets * SET_BYTES + (uint64_t)h->nr_rules * RULE_BYTES +
	       h->code_bytes + h->path_bytes;
}

static uint64_t rows_bytes(const struct unwind_cache_head *h)
{
	return (uint64_t)h->nr_rows * ROW_BYTES +
	       (uint64_t)h->nr_buckets * BUCKET_BYTES;
}

static int unwind_cache_read_head(int fd, const struct unwind_cache_key *key,
				  uint64_t file_bytes, struct unwind_cache_head *h)
{
	uint8_t bytes[HEAD_BYTES];
	struct cursor c = cursor_le(bytes, sizeof(bytes));
	ssize_t got = io_pread_full(fd, bytes, sizeof(bytes), 0);
	uint32_t len, version;

	if (got < 0)
		return (int)got;
	if (got < HEAD_BYTES || memcmp(bytes, magic, sizeof(magic)) != 0)
		return -EBADMSG;
	c.pos = HEAD_BYTES - 8;
	if (cursor_u64(&c) != hash_bytes(bytes, HEAD_BYTES - 8, 0))
		return -EBADMSG;
	c.pos = sizeof(magic);
	version = cursor_u32(&c);
	h->machine = cursor_u16(&c);
	h->flags = cursor_u16(&c);
	h->base = cursor_u64(&c);
	h->nr_rows = cursor_u32(&c);
	h->nr_buckets = cursor_u32(&c);
	h->nr_sets = cursor_u32(&c);
	h->nr_rules = cursor_u32(&c);
	h->code_bytes = cursor_u32(&c);
	h->bucket_shift = cursor_u32(&c);
	h->path_bytes = cursor_u32(&c);
	len = cursor_u32(&c);
	h->rows_hash = cursor_u64(&c);
	h->rest_hash = cursor_u64(&c);
	if (version != VERSION || cursor_u64(&c) != file_bytes ||
	    file_bytes != HEAD_BYTES + rest_bytes(h) + rows_bytes(h) || !h->nr_sets ||
	    h->bucket_shift > 31 || !h->nr_rows != !h->nr_buckets)
		return -EBADMSG;
	return unwind_cache_is_key(key, &c, len, h->flags) ? 0 : -EBADMSG;
}

static bool unwind_cache_is_code(const struct unwind_table *t, int64_t at)
{
	size_t len;

	if (at < 0 || (uint64_t)at + 2 > t->code.nr)
		return false;
	(void)unwind_table_code(t, (int32_t)at, &len);
	return len <= t->code.nr - (size_t)at - 2;
}

static bool is_rule(const struct unwind_table *t, const struct unwind_rule *rule)
{
	if (rule->slot >= UNWIND_REGS || rule->how > UNWIND_VALUE)
		return false;
	if (rule->how == UNWIND_REGISTER)
		return rule->value >= 0 && rule->value < UNWIND_REGS;
	return (rule->how != UNWIND_EXPRESSION && rule->how != UNWIND_VALUE) ||
	       unwind_cache_is_code(t, rule->value);
}

static bool is_set(const struct unwind_table *t, const struct unwind_set *s)
{
	if (s->base == UNWIND_NONE)
		return true;
	return s->base <= UNWIND_BASE_CODE && s->reg < UNWIND_REGS &&
	       s->return_slot < UNWIND_REGS && s->nr_rules <= UNWIND_REGS &&
	       s->first_rule <= t->rules.nr &&
	       s->nr_rules <= t->rules.nr - s->first_rule &&
	       (s->base != UNWIND_BASE_CODE || unwind_cache_is_code(t, s->offset));
}

/* Returns whether all references in the table are valid: the hashes detect corruption, but do not
 * authenticate the writer. */
static bool is_sane(const struct unwind_table *t)
{
	for (size_t i = 0; i < t->rules.nr; i++)
		if (!is_rule(t, &t->rules.at[i]))
			return false;
	for (size_t i = 0; i < t->sets.nr; i++)
		if (!is_set(t, &t->sets.at[i]))
			return false;
	for (size_t i = 0; i < t->rows.nr; i++)
		if (t->rows.at[i].set >= t->sets.nr ||
		    (i && t->rows.at[i].offset <= t->rows.at[i - 1].offset))
			return false;
	for (size_t i = 0; i < t->buckets.nr; i++)
		if (t->buckets.at[i] >= t->rows.nr ||
		    (i && t->buckets.at[i] < t->buckets.at[i - 1]))
			return false;
	return t->sets.at[0].base == UNWIND_NONE;
}

static int unwind_cache_take_rest(struct unwind_table *t,
				  const struct unwind_cache_head *h,
				  const uint8_t *bytes, size_t len)
{
	struct cursor c = cursor_le(bytes, len);
	const void *code;

	if (hash_bytes(bytes, len, 0) != h->rest_hash)
		return -EBADMSG;
	if (!vec_reserve(&t->sets, h->nr_sets) ||
	    !vec_reserve(&t->rules, h->nr_rules + 1) ||
	    !vec_reserve(&t->code, (size_t)h->code_bytes + 1))
		return -ENOMEM;
	for (uint32_t i = 0; i < h->nr_sets; i++) {
		struct unwind_set s = { .base = cursor_u8(&c) };

		s.reg = cursor_u8(&c);
		s.is_signal = cursor_u8(&c);
		s.nr_rules = cursor_u8(&c);
		s.return_slot = cursor_u8(&c);
		s.offset = (int32_t)cursor_u32(&c);
		s.first_rule = cursor_u32(&c);
		t->sets.at[t->sets.nr++] = s;
	}
	for (uint32_t i = 0; i < h->nr_rules; i++) {
		struct unwind_rule rule = { .slot = cursor_u8(&c) };

		rule.how = cursor_u8(&c);
		rule.value = (int32_t)cursor_u32(&c);
		t->rules.at[t->rules.nr++] = rule;
	}
	code = cursor_take(&c, h->code_bytes);
	if (code)
		memcpy(t->code.at, code, h->code_bytes);
	t->code.nr = h->code_bytes;
	return code ? 0 : -EBADMSG;
}

static int unwind_cache_read_rest(int fd, const struct unwind_cache_head *h,
				  struct unwind_table *t)
{
	size_t len = (size_t)rest_bytes(h);
	uint8_t *bytes = malloc(len + 1);
	ssize_t got;
	int r;

	if (!bytes)
		return -ENOMEM;
	got = io_pread_full(fd, bytes, len, HEAD_BYTES);
	r = got < 0             ? (int)got
	    : (size_t)got < len ? -EBADMSG
				: unwind_cache_take_rest(t, h, bytes, len);
	free(bytes);
	return r;
}

/* Reads words and converts them to this machine's byte order. */
static int unwind_cache_read_words(int fd, void *words, size_t nr, uint64_t at)
{
	ssize_t got = nr ? io_pread_full(fd, words, nr * 4, at) : 0;
	uint32_t *w = words;

	if (got < 0)
		return (int)got;
	for (size_t i = 0; BIG_ENDIAN_HERE && i < nr; i++)
		w[i] = __builtin_bswap32(w[i]);
	return (size_t)got == nr * 4 ? 0 : -EBADMSG;
}

static uint64_t hash_rows(const struct unwind_table *t)
{
	struct buf out = { 0 };
	struct hash_stream *stream;
	uint64_t hash;

	if (BIG_ENDIAN_HERE) {
		put_words(&out, t->rows.at, t->rows.nr * 2);
		put_words(&out, t->buckets.at, t->buckets.nr);
		hash = hash_bytes(out.data, out.len, 0);
		buf_done(&out);
		return hash;
	}
	stream = hash_stream_new();
	if (!stream)
		return 0;
	hash_stream_put(stream, t->rows.at, t->rows.nr * ROW_BYTES);
	hash_stream_put(stream, t->buckets.at, t->buckets.nr * BUCKET_BYTES);
	hash = hash_stream_end(stream);
	hash_stream_free(stream);
	return hash;
}

static int read_rows(int fd, const struct unwind_cache_head *h, struct unwind_table *t)
{
	uint64_t at = HEAD_BYTES + rest_bytes(h);
	int r;

	if (!vec_reserve(&t->rows, (size_t)h->nr_rows + 1) ||
	    !vec_reserve(&t->buckets, (size_t)h->nr_buckets + 1))
		return -ENOMEM;
	t->rows.nr = h->nr_rows;
	t->buckets.nr = h->nr_buckets;
	r = unwind_cache_read_words(fd, t->rows.at, t->rows.nr * 2, at);
	if (!r)
		r = unwind_cache_read_words(fd, t->buckets.at, t->buckets.nr,
					    at + (uint64_t)h->nr_rows * ROW_BYTES);
	if (!r && hash_rows(t) != h->rows_hash)
		r = -EBADMSG;
	return r;
}

/* Reports I/O errors. Other errors are about the content. */
static int report_failure(const char *path, int r)
{
	return r == -EIO ? fault_unreadable(path, r) : r;
}

/* Opens the file and reads its header. */
static int unwind_cache_open_file(const char *path, const struct unwind_cache_key *key,
				  struct unwind_cache_head *h)
{
	int fd = io_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	struct stat st;
	int r;

	if (fd < 0)
		return fault_unreadable(path, fd);
	r = fstat(fd, &st)         ? -errno
	    : !S_ISREG(st.st_mode) ? -EBADMSG
	    : !trust_cache_file(fd, path)
		    ? -EPERM
		    : unwind_cache_read_head(fd, key, (uint64_t)st.st_size, h);
	if (r) {
		close(fd);
		return report_failure(path, r);
	}
	return fd;
}

static int read_table(int fd, const struct unwind_cache_head *h,
		      struct unwind_table **ret_table)
{
	struct unwind_table *t = calloc(1, sizeof(*t));
	int r = t ? 0 : -ENOMEM;

	if (!r) {
		t->arch = unwind_arch_of_elf(h->machine, h->flags & FLAG_64);
		t->swap = (bool)(h->flags & FLAG_BIG) != (bool)BIG_ENDIAN_HERE;
		t->base = h->base;
		t->bucket_shift = h->bucket_shift;
		r = t->arch ? unwind_cache_read_rest(fd, h, t) : -EBADMSG;
	}
	if (!r)
		r = read_rows(fd, h, t);
	/* Check our own copy, which the writer of the file can no longer change. */
	if (!r && !is_sane(t))
		r = -EBADMSG;
	if (r)
		unwind_table_free(t);
	else
		*ret_table = t;
	return r;
}

int unwind_cache_take(int fd, uint64_t max_bytes, struct unwind_table **ret_table)
{
	struct unwind_cache_head h = { 0 };
	struct stat st;
	int r;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > max_bytes)
		return -EBADMSG;
	r = unwind_cache_read_head(fd, NULL, (uint64_t)st.st_size, &h);
	return r ? r : read_table(fd, &h, ret_table);
}

int unwind_cache_read(const char *path, const struct unwind_cache_key *key,
		      struct unwind_table **ret_table)
{
	struct unwind_cache_head h = { 0 };
	int fd = unwind_cache_open_file(path, key, &h);
	int r;

	if (fd < 0)
		return fd;
	r = read_table(fd, &h, ret_table);
	/* The access time is the time of last use, for eviction. */
	if (!r)
		(void)futimens(fd,
			       (const struct timespec[]){ { .tv_nsec = UTIME_NOW },
							  { .tv_nsec = UTIME_OMIT } });
	close(fd);
	return report_failure(path, r);
}

char *unwind_cache_path_of(const char *path)
{
	struct unwind_cache_head h = { 0 };
	int fd = unwind_cache_open_file(path, NULL, &h);
	char *path_of = NULL;

	if (fd < 0)
		return NULL;
	if (h.path_bytes <= INDEX_PATH_MAX)
		path_of = calloc(1, (size_t)h.path_bytes + 1);
	if (path_of && io_pread_full(fd, path_of, h.path_bytes,
				     HEAD_BYTES + rest_bytes(&h) - h.path_bytes) !=
			       (ssize_t)h.path_bytes) {
		free(path_of);
		path_of = NULL;
	}
	close(fd);
	return path_of;
}

/* ---- with a binary ---- */

static void add_u64(struct index_key *id, uint64_t v)
{
	for (unsigned int i = 0; i < sizeof(v); i++)
		id->bytes[id->len++] = (uint8_t)(v >> (8 * i));
}

static bool unwind_cache_add_file(struct index_key *id, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	add_u64(id, st.st_dev);
	add_u64(id, st.st_ino);
	add_u64(id, (uint64_t)st.st_size);
	/* Use the change time: the file's owner can set the modification time to any value. */
	add_u64(id, clock_ns(st.st_ctim));
	return true;
}

static bool unwind_cache_take_key(const struct unwind_maker *maker,
				  struct unwind_cache_key *key)
{
	struct build_id id;

	static_assert(BUILD_ID_MAX + FILE_KEY_BYTES <= INDEX_KEY_MAX, "no room");
	*key = (struct unwind_cache_key){ .with_debug = maker->with_debug };
	if (maker->fd < 0 || elf_build_id_fd(maker->fd, &id, NULL) || !id.len)
		return false;
	memcpy(key->id.bytes, id.bytes, id.len);
	key->id.len = id.len;
	key->id.is_build_id = true;
	return !maker->of_file || unwind_cache_add_file(&key->id, maker->fd);
}

static void unwind_cache_keep(const char *dir, const char *file,
			      const struct unwind_cache_key *key, const char *path,
			      const struct unwind_table *t)
{
	int r = io_make_dirs(dir, 0700);

	if (!r)
		r = unwind_cache_write(file, key, path, t);
	if (r)
		log_say(LOG_DEBUG, "'%s': unwind table not written: %s", file,
			strerror(-r));
	else
		(void)index_cache_trim(dir, index_cache_limit(), NULL);
}

int unwind_cache_load_by(const char *dir, const char *path,
			 const struct unwind_maker *maker,
			 struct unwind_table **ret_table)
{
	struct unwind_cache_key key;
	char *file;
	int r;

	if (!dir || !*dir || !unwind_cache_take_key(maker, &key))
		return maker->make(maker->ctx, maker->fd, ret_table);
	file = index_cache_unwind_path(dir, &key.id);
	if (!file)
		return -ENOMEM;
	r = unwind_cache_read(file, &key, ret_table);
	if (r && r != -ENOMEM) {
		r = maker->make(maker->ctx, maker->fd, ret_table);
		if (!r && (*ret_table)->rows.nr >= WORTH_ROWS)
			unwind_cache_keep(dir, file, &key, path, *ret_table);
	}
	free(file);
	return r;
}

struct unwind_cache_files {
	struct elf_file *binary;
	struct elf_file *debug;
};

static int make_here(void *ctx, int fd, struct unwind_table **ret_table)
{
	const struct unwind_cache_files *files = ctx;

	(void)fd;
	return unwind_table_load(files->binary, files->debug, ret_table);
}

int unwind_cache_load(const char *dir, const char *path, struct elf_file *f,
		      struct elf_file *debug, struct unwind_table **ret_table)
{
	struct unwind_cache_files files = { .binary = f, .debug = debug };
	const struct unwind_maker maker = {
		.fd = f->fd,
		.with_debug = debug,
		.of_file = !trust_is_original(f->fd, path) ||
			   (debug && !trust_is_exclusive(debug->fd)),
		.make = make_here,
		.ctx = &files,
	};

	return unwind_cache_load_by(dir, path, &maker, ret_table);
}
