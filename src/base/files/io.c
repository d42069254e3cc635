/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/io.h"

#include "base/parse.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	READ_STEP = 64 * 1024,
	COPY_STEP = 4 << 20, /* takes some milliseconds */
	HOLLOW_MIN_BYTES = 16 << 20,
	HOLLOW_PART =
		16, /* holes in relation to data; compression never achieves this ratio */
	ST_BLOCK_BYTES = 512,
	FDINFO_MAX = 4096
};

int io_write_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

ssize_t io_pread_full(int fd, void *bytes, size_t len, uint64_t off)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n =
			pread(fd, (char *)bytes + got, len - got, (off_t)(off + got));

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (n == 0)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

/* Returns the bytes currently in the pipe, or 0 if it has ended. */
static ssize_t peek_once(int fd, const int copy[2], void *bytes, size_t len)
{
	ssize_t n;

	do
		n = tee(fd, copy[1], len, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n ? read(copy[0], bytes, (size_t)n) : 0;
}

static ssize_t peek_pipe(int fd, void *bytes, size_t len)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	struct pollfd writers = { .fd = fd };
	int copy[2];
	ssize_t n;

	if (pipe2(copy, O_CLOEXEC))
		return -errno;
	for (;;) {
		/* Check for the end before reading, so that data which was written just before it
		 * is included. */
		bool ended = poll(&writers, 1, 0) > 0 && writers.revents & POLLHUP;

		n = peek_once(fd, copy, bytes, len);
		if (n <= 0 || (size_t)n == len || ended)
			break;
		nanosleep(&moment, NULL);
	}
	close(copy[0]);
	close(copy[1]);
	return n;
}

ssize_t io_peek(int fd, void *bytes, size_t len)
{
	struct stat st;
	off_t at;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISFIFO(st.st_mode))
		return peek_pipe(fd, bytes, len);
	at = lseek(fd, 0, SEEK_CUR);
	if (!S_ISREG(st.st_mode) || at < 0)
		return -EINVAL;
	return io_pread_full(fd, bytes, len, (uint64_t)at);
}

/* Appends `bytes` to the buffer of a stream, as a write function of fopencookie(3). Returns `len`,
 * or 0 on an error. */
static ssize_t memory_write(void *cookie, const char *bytes, size_t len)
{
	struct buf *text = cookie;

	buf_put(text, bytes, len);
	return text->failed ? 0 : (ssize_t)len;
}

FILE *io_open_memory(struct buf *text)
{
	return fopencookie(text, "w", (cookie_io_functions_t){ .write = memory_write });
}

int io_close_memory(FILE *memory, struct buf *text)
{
	bool is_short = ferror(memory);

	if (fclose(memory) || is_short)
		return -ENOMEM;
	buf_put_u8(text, 0);
	if (text->failed)
		return -ENOMEM;
	text->len--;
	return 0;
}

int io_read_fd(int fd, struct buf *out, size_t max)
{
	size_t start = out->len;

	for (;;) {
		ssize_t n;

		if (!buf_reserve(out, READ_STEP))
			return -ENOMEM;
		n = read(fd, out->data + out->len, READ_STEP);
		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (n == 0)
			return 0;
		if ((size_t)n > max - (out->len - start))
			return -EFBIG;
		out->len += (size_t)n;
	}
}

static int read_and_close(int fd, struct buf *out, size_t max)
{
	int r = fd < 0 ? fd : io_read_fd(fd, out, max);

	if (fd >= 0)
		close(fd);
	return r;
}

int io_read_file(const char *path, struct buf *out, size_t max)
{
	return read_and_close(io_open(path, O_RDONLY, 0), out, max);
}

/* Reads the number at the start of a text. Returns false if the text begins with another
 * character than a digit, or the number does not fit. */
static bool io_leading_number(const char *text, uint64_t *ret_number)
{
	char digits[24] = { 0 };
	size_t len = strspn(text, "0123456789");

	if (len >= sizeof(digits))
		return false;
	memcpy(digits, text, len);
	return parse_u64(digits, ret_number);
}

bool io_mount_of(int fd, uint64_t *ret_mount)
{
	static const char key[] = "mnt_id:";
	struct buf text = { 0 };
	bool is_known = false;
	char path[64];
	const char *at;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (!io_read_file(path, &text, FDINFO_MAX)) {
		buf_put_u8(&text, 0);
		at = text.failed ? NULL : strstr((const char *)text.data, key);
		if (at) {
			at += sizeof(key) - 1;
			at += strspn(at, "\t ");
			is_known = io_leading_number(at, ret_mount);
		}
	}
	buf_done(&text);
	return is_known;
}

int io_read_regular(const char *path, struct buf *out, size_t max)
{
	return read_and_close(io_open_regular(path, 0), out, max);
}

/* Creates a temporary file that will replace `path`. Returns a descriptor and the temporary name
 * in *ret_part, which the caller frees, or a negative errno. */
static int io_open_part(const char *path, mode_t mode, char **ret_part)
{
	static const char suffix[] = ".part";
	int fd;

	if (asprintf(ret_part, "%s.XXXXXX%s", path, suffix) < 0)
		return -ENOMEM;
	fd = io_open_temp(*ret_part, sizeof(suffix) - 1, mode);
	if (fd < 0)
		free(*ret_part);
	return fd;
}

/* Closes a file of io_open_part(). Renames it to `path`, or removes it if `r` is an error. Returns
 * `r` or the error of the rename. Frees `part`. */
static int io_end_part(int fd, int r, char *part, const char *path)
{
	if (close(fd) && !r)
		r = -errno;
	if (!r)
		r = io_rename(part, path);
	if (r)
		(void)io_unlink(part);
	free(part);
	return r;
}

static int write_file(const char *path, const void *bytes, size_t len, mode_t mode,
		      bool to_disk)
{
	char *part = NULL;
	int fd = io_open_part(path, mode, &part);
	int r;

	if (fd < 0)
		return fd;
	r = io_write_all(fd, bytes, len);
	if (!r && to_disk && fsync(fd))
		r = -errno;
	return io_end_part(fd, r, part, path);
}

int io_write_file(const char *path, const void *bytes, size_t len, mode_t mode)
{
	return write_file(path, bytes, len, mode, false);
}

int io_write_file_to_disk(const char *path, const void *bytes, size_t len, mode_t mode)
{
	return write_file(path, bytes, len, mode, true);
}

uint64_t io_next_data(int fd, uint64_t at, uint64_t end)
{
	off_t data;

	if (at >= end)
		return end;
	data = lseek(fd, (off_t)at, SEEK_DATA);
	/* Some file systems cannot search for data. */
	if (data < 0)
		return errno == ENXIO ? end : at;
	return (uint64_t)data < end ? (uint64_t)data : end;
}

static uint64_t next_hole(int fd, uint64_t at, uint64_t end)
{
	off_t hole = lseek(fd, (off_t)at, SEEK_HOLE);

	return hole < 0 || (uint64_t)hole > end ? end : (uint64_t)hole;
}

uint64_t io_solid_bytes(int fd, uint64_t size)
{
	return io_is_hollow(fd) ? next_hole(fd, 0, size) : size;
}

static int copy_range(int from, int to, uint64_t at, uint64_t end,
		      const atomic_bool *stop)
{
	off_t off = (off_t)at;

	if (lseek(to, off, SEEK_SET) < 0)
		return -errno;
	while ((uint64_t)off < end) {
		uint64_t left = end - (uint64_t)off;
		ssize_t n;

		if (stop && atomic_load(stop))
			return -ECANCELED;
		n = sendfile(to, from, &off, left < COPY_STEP ? left : COPY_STEP);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
	}
	return 0;
}

int io_copy_to(int from, int to, uint64_t bytes, const atomic_bool *stop)
{
	uint64_t at = io_next_data(from, 0, bytes);
	struct stat st;
	int r = 0;

	while (!r && at < bytes) {
		uint64_t end = next_hole(from, at, bytes);

		r = copy_range(from, to, at, end, stop);
		at = io_next_data(from, end, bytes);
	}
	if (!r && ftruncate(to, (off_t)bytes))
		r = -errno;
	if (!r && fstat(from, &st))
		r = -errno;
	/* If the file is now shorter than `bytes`, it was truncated, which must not look like a
	 * hole at the end. */
	return !r && (uint64_t)st.st_size < bytes ? -EIO : r;
}

static bool io_is_zero(const uint8_t *bytes, size_t len)
{
	return !len || (!bytes[0] && !memcmp(bytes, bytes + 1, len - 1));
}

int io_write_holes(int fd, const void *bytes, size_t len)
{
	if (!io_is_zero(bytes, len))
		return io_write_all(fd, bytes, len);
	return lseek(fd, (off_t)len, SEEK_CUR) < 0 ? -errno : 0;
}

int io_end_holes(int fd)
{
	off_t end = lseek(fd, 0, SEEK_CUR);

	return end < 0 || ftruncate(fd, end) ? -errno : 0;
}

int io_copy(int from, const char *path, uint64_t bytes, const atomic_bool *stop)
{
	struct stat st;
	char *part = NULL;
	int to;

	if (fstat(from, &st))
		return -errno;
	to = io_open_part(path, st.st_mode & S_IROTH ? 0644 : 0600, &part);
	if (to < 0)
		return to;
	return io_end_part(to, io_copy_to(from, to, bytes, stop), part, path);
}

bool io_is_hollow(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_size > HOLLOW_MIN_BYTES &&
	       st.st_blocks * ST_BLOCK_BYTES < st.st_size / HOLLOW_PART;
}

static int remove_inside(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int r = 0;

	if (!dir) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	errno = 0;
	while (!r && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = io_remove_tree_at(fd, entry->d_name);
		errno = 0;
	}
	if (!r)
		r = -errno;
	closedir(dir);
	return r;
}

int io_remove_tree_at(int at, const char *name)
{
	int r;

	if (!unlinkat(at, name, 0) || errno == ENOENT)
		return 0;
	r = -errno;
	if (!unlinkat(at, name, AT_REMOVEDIR))
		return 0;
	if (errno == ENOTDIR)
		return r;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return -errno;
	r = remove_inside(at, name);
	if (!r && unlinkat(at, name, AT_REMOVEDIR))
		r = -errno;
	return r;
}
