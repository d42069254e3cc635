#include "format/session/checksums.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/containers/hash.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "base/err.h"
#include "base/files/faults.h"
#include "base/files/io.h"

enum {
	CHUNK_BYTES = 1 << 16,
	LIST_MAX_BYTES = 16 << 20,
	HASH_DIGITS = 16
};

static const char line_start[] = "XXH3_";
static const char separator[] = "  ";
static const char bad_line[] = "a line of it is malformed";
static const char bad_contents[] = "it does not match its checksum";

/* Files that were looked at: an earlier answer counts while size and time are the same. */
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
static struct map known;

static const char *checksums_name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Of the list in the directory of `path`.  malloc'd. */
static char *list_path(const char *path)
{
	char *list;

	return asprintf(&list, "%.*s" CHECKSUMS_NAME,
			(int)(checksums_name_of(path) - path), path) < 0
		       ? NULL
		       : list;
}

/* ---- writing ---- */

/* With one write(), which O_APPEND keeps whole between several writers. */
static int checksums_append(const char *path, uint64_t hash)
{
	char *line = NULL, *list = list_path(path);
	int len, fd = -1, r = -ENOMEM;

	len = asprintf(&line, "%s%016" PRIx64 "%s%s\n", line_start, hash, separator,
		       checksums_name_of(path));
	if (len < 0)
		line = NULL;
	if (list && line) {
		fd = io_open(list, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW,
			     RECORDING_FILE_MODE);
		r = fd < 0 ? fd : io_write_all(fd, line, (size_t)len);
	}
	if (fd >= 0 && close(fd) && !r)
		r = -errno;
	free(line);
	free(list);
	return r;
}

int checksums_add(const char *path, const void *bytes, size_t len)
{
	return checksums_append(path, hash_bytes(bytes, len, 0));
}

int checksums_write_file(const char *path, const void *bytes, size_t len, mode_t mode)
{
	int r = checksums_add(path, bytes, len);

	return r ? r : io_write_file(path, bytes, len, mode);
}

static int hash_fd(int fd, uint64_t *ret_hash)
{
	struct hash_stream *h = hash_stream_new();
	void *chunk = malloc(CHUNK_BYTES);
	uint64_t at = 0;
	ssize_t n = -ENOMEM;

	while (h && chunk && (n = io_pread_full(fd, chunk, CHUNK_BYTES, at)) > 0) {
		hash_stream_put(h, chunk, (size_t)n);
		at += (uint64_t)n;
	}
	if (!n)
		*ret_hash = hash_stream_end(h);
	hash_stream_free(h);
	free(chunk);
	return (int)n;
}

static int checksums_hash_file(const char *path, uint64_t *ret_hash)
{
	int fd = io_open_regular(path, O_NOFOLLOW);
	int r = fd < 0 ? fd : hash_fd(fd, ret_hash);

	if (fd >= 0)
		close(fd);
	return r;
}

/* The source can grow while it is copied: the hash is that of the copy. */
int checksums_copy(int from, const char *path, uint64_t bytes, const atomic_bool *stop)
{
	uint64_t hash = 0;
	char *part;
	int r;

	if (asprintf(&part, "%s.copy.part", path) < 0)
		return -ENOMEM;
	r = io_copy(from, part, bytes, stop);
	if (r) {
		free(part);
		return r;
	}
	r = checksums_hash_file(part, &hash);
	if (!r)
		r = checksums_append(path, hash);
	if (!r)
		r = io_rename(part, path);
	if (r)
		(void)io_unlink(part);
	free(part);
	return r;
}

/* ---- reading ---- */

static bool parse_hash(const char *digits, uint64_t *ret_hash)
{
	uint64_t hash = 0;

	for (unsigned int i = 0; i < HASH_DIGITS; i++) {
		static const char hex[] = "0123456789abcdef";
		const char *digit = digits[i] ? strchr(hex, digits[i]) : NULL;

		if (!digit)
			return false;
		hash = hash << 4 | (uint64_t)(digit - hex);
	}
	*ret_hash = hash;
	return true;
}

/* Takes a line apart, which ends with a null.  False: it is malformed. */
static bool checksums_parse_line(const char *line, uint64_t *ret_hash,
				 const char **ret_name)
{
	size_t start = sizeof(line_start) - 1, between = sizeof(separator) - 1;

	if (strncmp(line, line_start, start) != 0 ||
	    !parse_hash(line + start, ret_hash) ||
	    strncmp(line + start + HASH_DIGITS, separator, between) != 0)
		return false;
	*ret_name = line + start + HASH_DIGITS + between;
	return **ret_name;
}

struct checksums_search {
	const char *name;
	bool (*found)(void *ctx, uint64_t hash); /* false: that is enough */
	void *ctx;
};

/* A last line without an end was cut off by a crash: the file did not get its name. */
static void search_list(char *text, const char *path, const struct checksums_search *s)
{
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		const char *name;
		uint64_t hash;

		*end = '\0';
		if (!checksums_parse_line(line, &hash, &name))
			fault_damaged(path, bad_line);
		else if (!strcmp(name, s->name) && !s->found(s->ctx, hash))
			return;
	}
}

/* 0, also if there is no list; or a negative errno. */
static int each_hash(const char *path, bool (*found)(void *ctx, uint64_t hash),
		     void *ctx)
{
	const struct checksums_search s = { checksums_name_of(path), found, ctx };
	struct buf text = { 0 };
	char *list = list_path(path);
	int fd, r;

	if (!list)
		return -ENOMEM;
	fd = io_open_regular(list, O_NOFOLLOW);
	r = fd < 0 ? fd : io_read_fd(fd, &text, LIST_MAX_BYTES);
	if (fd >= 0)
		close(fd);
	if (!r) {
		buf_put_u8(&text, '\0');
		r = text.failed ? -ENOMEM : 0;
	}
	if (!r)
		search_list((char *)text.data, list, &s);
	else if (err_is_absent(r))
		r = 0;
	else
		fault_unreadable(list, r);
	buf_done(&text);
	free(list);
	return r;
}

struct hashes {
	VEC(uint64_t) all;
	bool failed; /* memory was short */
};

static bool note_hash(void *ctx, uint64_t hash)
{
	struct hashes *h = ctx;

	h->failed |= !vec_push(&h->all, hash);
	return !h->failed;
}

/* All hashes of a file.  0, also if there are none, or a negative errno. */
static int read_hashes(const char *path, struct hashes *h)
{
	int r = each_hash(path, note_hash, h);

	return !r && h->failed ? -ENOMEM : r;
}

static enum checksum checksums_compare(const struct hashes *h, uint64_t hash)
{
	for (size_t i = 0; i < h->all.nr; i++)
		if (h->all.at[i] == hash)
			return CHECKSUM_GOOD;
	return CHECKSUM_BAD;
}

/* A file that has no line is not read. */
int checksums_verify(int fd, const char *path, enum checksum *ret_state)
{
	struct hashes h = { 0 };
	uint64_t hash = 0;
	int r = read_hashes(path, &h);

	if (!r && !h.all.nr)
		*ret_state = CHECKSUM_UNKNOWN;
	else if (!r && !(r = hash_fd(fd, &hash)))
		*ret_state = checksums_compare(&h, hash);
	vec_done(&h.all);
	return r;
}

int checksums_verify_bytes(const char *path, const void *bytes, size_t len,
			   enum checksum *ret_state)
{
	struct hashes h = { 0 };
	int r = read_hashes(path, &h);

	if (!r)
		*ret_state = h.all.nr ? checksums_compare(&h, hash_bytes(bytes, len, 0))
				      : CHECKSUM_UNKNOWN;
	vec_done(&h.all);
	return r;
}

int checksums_read_file(const char *path, struct buf *out, size_t max)
{
	size_t before = out->len;
	enum checksum state = CHECKSUM_UNKNOWN;
	int r = io_read_regular(path, out, max);

	if (r && r != -EFBIG)
		fault_unreadable(path, r);
	else if (!r)
		r = checksums_verify_bytes(path, out->data + before, out->len - before,
					   &state);
	if (!r && state == CHECKSUM_BAD) {
		fault_damaged(path, bad_contents);
		r = -EBADMSG;
	}
	if (r)
		out->len = before;
	return r;
}

struct checksums_taking {
	const char *to;
	int r;
};

static bool checksums_take_line(void *ctx, uint64_t hash)
{
	struct checksums_taking *t = ctx;

	t->r = checksums_append(t->to, hash);
	return !t->r;
}

int checksums_take(const char *from, const char *to)
{
	struct checksums_taking t = { to, 0 };
	int r = each_hash(from, checksums_take_line, &t);

	return r ? r : t.r;
}

/* ---- answers that are kept ---- */

static uint64_t state_key(const struct stat *st)
{
	return hash_pair(hash_pair(st->st_dev, st->st_ino),
			 hash_pair((uint64_t)st->st_size, clock_ns(st->st_mtim)));
}

bool checksums_usable(int fd, const char *path)
{
	uint64_t by_path = hash_bytes(path, strlen(path), 0);
	enum checksum state = CHECKSUM_UNKNOWN;
	struct stat st;
	uint32_t at;
	int r;

	if (fstat(fd, &st))
		return !fault_unreadable(path, -errno);
	pthread_mutex_lock(&known_lock);
	at = map_get(&known, state_key(&st), by_path);
	pthread_mutex_unlock(&known_lock);
	if (at != MAP_NONE)
		return at != CHECKSUM_BAD;
	r = checksums_verify(fd, path, &state);
	if (r) {
		fault_unreadable(path, r);
		return false;
	}
	if (state == CHECKSUM_BAD)
		fault_damaged(path, bad_contents);
	pthread_mutex_lock(&known_lock);
	(void)map_set(&known, state_key(&st), by_path, state);
	pthread_mutex_unlock(&known_lock);
	return state != CHECKSUM_BAD;
}

void checksums_report(const char *path)
{
	int fd = io_open_regular(path, O_NOFOLLOW);

	if (fd < 0) {
		fault_unreadable(path, fd);
		return;
	}
	(void)checksums_usable(fd, path);
	close(fd);
}
