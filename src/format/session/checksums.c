/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/session/checksums.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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
#include "format/session/checksum_list.h"

enum {
	CHUNK_BYTES = 1 << 16,
	LIST_MAX_BYTES = 16 << 20,
	COMPACT_BYTES = 1 << 20, /* a longer list is compacted */
	OPEN_TRIES = 100
};

/* Name in the placeholder line of a list without files. */
static const char nothing[] = "none";
static const char bad_line[] = "a line of it is malformed";
static const char bad_contents[] = "it does not match its checksum";

/* Results of earlier checks, valid while size and time of the file are unchanged. */
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
static struct map known;

static const char *checksums_name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Returns the path of the list in the directory of `path`. The caller frees it. */
static char *list_path(const char *path)
{
	char *list;

	return asprintf(&list, "%.*s" CHECKSUMS_NAME,
			(int)(checksums_name_of(path) - path), path) < 0
		       ? NULL
		       : list;
}

/* ---- writing ---- */

/* Returns whether the open list still has its name; checksums_compact() could have replaced it. */
static bool is_current_list(int fd, const char *list)
{
	struct stat opened, there;

	return !fstat(fd, &opened) && !lstat(list, &there) &&
	       opened.st_dev == there.st_dev && opened.st_ino == there.st_ino;
}

/* Opens a list for appending, and creates it if it is missing. Returns a file descriptor or a
 * negative errno. */
static int open_list(const char *list, bool *ret_is_new)
{
	const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK;

	for (int tries = 0; tries < OPEN_TRIES; tries++) {
		int fd = io_open(list, flags, 0);

		*ret_is_new = fd == -ENOENT;
		if (fd == -ENOENT)
			fd = io_open(list, flags | O_CREAT | O_EXCL,
				     RECORDING_FILE_MODE);
		if (fd == -EEXIST)
			continue;
		if (fd < 0 || (!flock(fd, LOCK_SH) && is_current_list(fd, list)))
			return fd;
		close(fd);
	}
	return -EAGAIN;
}

/* Appends a line with a single write(2). With O_APPEND, lines of several writers do not mix. */
static int write_line(const char *list, const struct buf *line, bool *ret_is_new)
{
	int fd = open_list(list, ret_is_new);
	int r = fd < 0 ? fd : io_write_all(fd, line->data, line->len);

	if (fd >= 0 && close(fd) && !r)
		r = -errno;
	return r;
}

static int list_directory_of(const char *path);

/* Appends a line to the list of the directory of `path`. `end` is appended to the name: "/" for a
 * directory. */
static int checksums_append(const char *path, const char *end, uint64_t hash)
{
	char *list = list_path(path), *name;
	struct buf line = { 0 };
	bool is_new = false;
	int r = -ENOMEM;

	if (asprintf(&name, "%s%s", checksums_name_of(path), end) < 0)
		name = NULL;
	if (name)
		checksum_list_put(&line, hash, name);
	if (list && name && !line.failed)
		r = write_line(list, &line, &is_new);
	free(name);
	free(list);
	buf_done(&line);
	return !r && is_new ? list_directory_of(path) : r;
}

/* Returns whether `dir` is a directory of side files in a session: images, jit or jit/PID. */
static bool is_side_directory(const char *dir)
{
	static const char above[] = "jit/";
	const char *name = checksums_name_of(dir);
	size_t before = (size_t)(name - dir), len = sizeof(above) - 1;

	return !strcmp(name, "images") || !strcmp(name, "jit") ||
	       (before > len && !strncmp(name - len, above, len) &&
		name[-(ptrdiff_t)len - 1] == '/');
}

/* Adds the directory to the list of its parent, so that its loss is noticed even though its own
 * list is lost with it. */
static int list_directory_of(const char *path)
{
	size_t len = (size_t)(checksums_name_of(path) - path);
	char *dir = len ? strndup(path, len - 1) : strdup("");
	int r = dir ? 0 : -ENOMEM;

	if (!r && is_side_directory(dir))
		r = checksums_append(dir, "/", CHECKSUM_DIRECTORY);
	free(dir);
	return r;
}

/* Writes the line of a file that does not exist. Without any line, a list that was emptied later
 * would look like one whose first line has not been written yet. */
int checksums_begin(const char *dir)
{
	char *no_file;
	int r;

	if (asprintf(&no_file, "%s/%s", dir, nothing) < 0)
		return -ENOMEM;
	r = checksums_has_list(no_file)
		    ? 0
		    : checksums_append(no_file, "", CHECKSUM_REMOVED);
	free(no_file);
	return r;
}

bool checksums_has_list(const char *path)
{
	char *list = list_path(path);
	struct stat st;
	bool has = list && !lstat(list, &st) && S_ISREG(st.st_mode) && st.st_size;

	free(list);
	return has;
}

int checksums_add(const char *path, const void *bytes, size_t len)
{
	return checksums_append(path, "", hash_bytes(bytes, len, 0));
}

int checksums_write_file(const char *path, const void *bytes, size_t len, mode_t mode)
{
	int r = checksums_add(path, bytes, len);

	if (!r)
		r = io_write_file(path, bytes, len, mode);
	return r ? r : checksums_add(path, bytes, len);
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

/* Copies a file and adds its line. The source can grow while it is copied, so the hash is computed
 * from the copy. */
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
		r = checksums_append(path, "", hash);
	if (!r)
		r = io_rename(part, path);
	if (r)
		(void)io_unlink(part);
	free(part);
	return r ? r : checksums_append(path, "", hash);
}

/* Add the line before removing the file, so that after a crash the file is not reported as
 * missing. If the disk is full, add it after the removal, when there is space. */
int checksums_remove(const char *path)
{
	int noted = checksums_append(path, "", CHECKSUM_REMOVED);
	int r = io_unlink(path);

	if (noted && !r)
		(void)checksums_append(path, "", CHECKSUM_REMOVED);
	return r;
}

int checksums_remove_directory(const char *dir)
{
	char *list;
	int r = asprintf(&list, "%s/" CHECKSUMS_NAME, dir) < 0 ? -ENOMEM : 0;

	if (r)
		return r;
	(void)checksums_append(dir, "/", CHECKSUM_REMOVED);
	r = io_unlink(list);
	free(list);
	return r && r != -ENOENT ? r : io_rmdir(dir);
}

/* ---- reading ---- */

int checksums_read_list(const char *list, struct buf *text)
{
	int fd = io_open_regular(list, O_NOFOLLOW);
	int r = fd < 0 ? fd : io_read_fd(fd, text, LIST_MAX_BYTES);

	if (fd >= 0)
		close(fd);
	if (err_is_absent(r))
		return 0;
	if (!r)
		buf_put_u8(text, '\0');
	if (!r && text->failed)
		r = -ENOMEM;
	return fault_unreadable(list, r);
}

struct checksums_search {
	const char *name;
	bool (*found)(void *ctx, uint64_t hash); /* returns false to stop the search */
	void *ctx;
};

static void search_list(struct buf *text, const char *path,
			const struct checksums_search *s)
{
	struct checksum_line line;
	size_t at = 0;
	int r;

	while ((r = checksum_list_next((char *)text->data, text->len, &at, &line))) {
		if (r < 0)
			fault_damaged(path, bad_line);
		else if (!strcmp(line.name, s->name) && !s->found(s->ctx, line.hash))
			return;
	}
}

/* Calls `found` for each hash of a file in its list. Returns 0, even if there is no list, or a
 * negative errno. */
static int each_hash(const char *path, bool (*found)(void *ctx, uint64_t hash),
		     void *ctx)
{
	const struct checksums_search s = { checksums_name_of(path), found, ctx };
	struct buf text = { 0 };
	char *list = list_path(path);
	int r = list ? checksums_read_list(list, &text) : -ENOMEM;

	if (!r && text.len)
		search_list(&text, list, &s);
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

/* Reads all hashes of a file. Returns 0, even if there are none, or a negative errno. */
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

/* Compares a file with its lines in the list. A file without a line is not read. */
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

	if (hash != CHECKSUM_REMOVED)
		t->r = checksums_append(t->to, "", hash);
	return !t->r;
}

int checksums_take(const char *from, const char *to)
{
	struct checksums_taking t = { to, 0 };
	int r = each_hash(from, checksums_take_line, &t);

	return r ? r : t.r;
}

/* ---- cached results ---- */

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

/* ---- compaction ---- */

int checksums_compact(const char *dir)
{
	struct buf text = { 0 }, out = { 0 };
	struct stat st;
	char *list;
	int fd, r;

	if (asprintf(&list, "%s/" CHECKSUMS_NAME, dir) < 0)
		return -ENOMEM;
	fd = io_open_regular(list, O_NOFOLLOW);
	r = fd < 0 ? fd : fstat(fd, &st) ? -errno : 0;
	/* Processes that append hold a shared lock, so an exclusive lock excludes them. */
	if (!r && st.st_size > COMPACT_BYTES && !flock(fd, LOCK_EX | LOCK_NB)) {
		r = io_read_fd(fd, &text, LIST_MAX_BYTES);
		if (!r)
			r = checksum_list_compact((char *)text.data, text.len, &out);
		if (!r && !out.len) /* see checksums_begin() */
			checksum_list_put(&out, CHECKSUM_REMOVED, nothing);
		if (!r)
			r = io_write_file(list, out.data, out.len, RECORDING_FILE_MODE);
	}
	if (fd >= 0)
		close(fd);
	buf_done(&text);
	buf_done(&out);
	free(list);
	return err_is_absent(r) ? 0 : r;
}
