/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "import/foreign_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "base/files/spool.h"
#include "format/archive/pack.h"
#include "format/foreign/foreign.h"
#include "format/perfdata/input.h"
#include "import/foreign.h"
#include "resolve/elf/unpacked.h"

enum {
	FILE_MAX = 1 << 30, /* maximum bytes of a file, also after decompression */
	HEAD_BYTES = FOREIGN_HEAD_BYTES + 1,
	INPUT_HEAD_BYTES = 4096, /* enough to decompress the first bytes */
	MAGIC_BYTES = 8,
	/* Limit of the decompressed size: this many bytes plus UNPACKED_RATIO_MAX times the
	 * compressed size. Folded stacks compress much better than binaries. */
	FREE_BYTES = 1 << 28,
	PIECE_BYTES = 1 << 18,
	DROP_BYTES = 4 << 20 /* a multiple of the page size */
};

/* ---- the format ---- */

/* A compressed source, and the bytes that it contains. */
struct foreign_unpacking {
	int fd;
	struct unpacker *unpacker;
	struct pack_span in;
	uint64_t taken; /* bytes read from the source */
	uint8_t *piece; /* PIECE_BYTES of memory, the buffer of `in` */
};

static int foreign_unpacking_begin(struct foreign_unpacking *u, enum packing packing,
				   int fd)
{
	*u = (struct foreign_unpacking){ .fd = fd, .piece = malloc(PIECE_BYTES) };
	u->in.at = u->piece;
	return u->piece ? unpacker_new(packing, &u->unpacker) : -ENOMEM;
}

static void foreign_unpacking_end(struct foreign_unpacking *u)
{
	unpacker_free(u->unpacker);
	free(u->piece);
}

static ssize_t foreign_unpacking_fill(struct foreign_unpacking *u)
{
	ssize_t n;

	do
		n = read(u->fd, u->piece, PIECE_BYTES);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Reads `len` decompressed bytes. Returns the number of bytes, which is smaller only at the end,
 * or a negative errno: -EBADMSG if the data is damaged. */
static ssize_t foreign_unpacking_read(struct foreign_unpacking *u, void *bytes,
				      size_t len)
{
	struct pack_span out = { bytes, len, 0 };
	int r = 0;

	while (!r && out.pos < out.size) {
		if (u->in.pos == u->in.size) {
			const ssize_t n = foreign_unpacking_fill(u);

			if (n <= 0)
				return n < 0 ? n : (ssize_t)out.pos;
			u->in = (struct pack_span){ u->piece, (size_t)n, 0 };
			u->taken += (uint64_t)n;
		}
		r = unpacker_step(u->unpacker, &u->in, &out, NULL);
	}
	return r ? r : (ssize_t)out.pos;
}

/* Recognises the content of a compressed file by its first bytes. If it is unknown, does not
 * change *ret_format. Returns 0 or a negative errno. */
static int foreign_file_recognise_packed(enum packing packing, int fd,
					 const struct foreign_format **ret_format)
{
	const struct foreign_format *found = NULL;
	uint8_t *head = malloc(HEAD_BYTES);
	struct foreign_unpacking u = { 0 };
	ssize_t len = head ? foreign_unpacking_begin(&u, packing, fd) : -ENOMEM;

	if (!len)
		len = foreign_unpacking_read(&u, head, HEAD_BYTES);
	if (len > 0)
		found = foreign_recognise(head, (size_t)len);
	if (found)
		*ret_format = found;
	foreign_unpacking_end(&u);
	free(head);
	return len >= 0 || len == -EBADMSG || len == -EOPNOTSUPP ? 0 : (int)len;
}

static int foreign_file_recognise(const char *path, int fd, uint8_t *head,
				  const struct foreign_format **ret_format)
{
	enum packing packing;
	struct stat st;
	ssize_t len;

	*ret_format = NULL;
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	len = io_pread_full(fd, head, HEAD_BYTES, 0);
	if (len <= 0)
		return (int)len;
	*ret_format = foreign_recognise(head, (size_t)len);
	packing = packing_of_bytes(head, (size_t)len);
	if (packing == PACKING_NONE)
		return 0;
	/* Do not decompress another user's file just to recognize it. */
	return trust_check(fd, TRUST_OWN, path, NULL)
		       ? -EPERM
		       : foreign_file_recognise_packed(packing, fd, ret_format);
}

int import_recognise(const char *path, const struct foreign_format **ret_format)
{
	uint8_t *head = malloc(HEAD_BYTES);
	int fd = head ? io_open(path, O_RDONLY | O_NONBLOCK, 0) : -ENOMEM;
	int r = fd < 0 ? fd : foreign_file_recognise(path, fd, head, ret_format);

	if (fd >= 0)
		close(fd);
	free(head);
	return r;
}

static int foreign_file_refuse(const struct foreign_format *f, struct err *err)
{
	return err_set(err, -EBADMSG, "this is %s, which cannot be read; %s", f->title,
		       f->advice);
}

int import_is_foreign(const char *path, struct err *err)
{
	const struct foreign_format *f;
	int r = import_recognise(path, &f);

	/* -EPERM: a compressed file of another user. Assume that it is a profile; it is refused
	 * when it is read, unless --force is given. */
	if (r == -EPERM)
		return 1;
	/* The argument can be the name of a binary, which need not be readable. */
	if (r)
		return err_is_absent(r) || r == -EACCES
			       ? 0
			       : err_sys(err, r, "cannot read '%s'", path);
	if (!f || f->read || f->can_be_image)
		return f && f->read;
	foreign_file_refuse(f, err);
	err_prefix(err, "%s", path);
	return -EBADMSG;
}

/* Returns whether compressed data contains a perf.data file, judged by its first bytes. */
static bool foreign_file_is_packed_perf(enum packing packing, uint8_t *head, size_t len)
{
	uint8_t magic[MAGIC_BYTES];
	struct pack_span in = { head, len, 0 };
	struct pack_span out = { magic, sizeof(magic), 0 };
	struct unpacker *u;
	int r = 0;

	if (unpacker_new(packing, &u))
		return true; /* its reader reports that */
	while (!r && in.pos < in.size && out.pos < out.size)
		r = unpacker_step(u, &in, &out, NULL);
	unpacker_free(u);
	/* The other formats decompress whole blocks only, so the head may be too short: then
	 * assume perf.data. */
	if (out.pos < out.size)
		return !r && packing != PACKING_GZIP;
	return perf_input_is_perf(magic, sizeof(magic));
}

bool import_is_input_foreign(void)
{
	uint8_t head[INPUT_HEAD_BYTES];
	ssize_t len = io_peek(STDIN_FILENO, head, MAGIC_BYTES);
	enum packing packing;

	if (len <= 0 || perf_input_is_perf(head, (size_t)len))
		return false;
	packing = packing_of_bytes(head, (size_t)len);
	if (packing == PACKING_NONE)
		return true;
	len = io_peek(STDIN_FILENO, head, sizeof(head));
	return len > 0 && !foreign_file_is_packed_perf(packing, head, (size_t)len);
}

/* ---- the content ---- */

const char *foreign_file_name(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

static int foreign_file_open_fd(const char *path, enum trust trust, struct err *err)
{
	const bool is_input = !strcmp(path, "-");
	int fd = is_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
			  : open(path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return err_sys(err, -errno, "cannot read '%s'",
			       foreign_file_name(path));
	r = is_input ? 0 : trust_check(fd, trust, path, err);
	if (r)
		close(fd);
	return r ? r : fd;
}

static enum packing foreign_file_packing(int fd)
{
	uint8_t magic[MAGIC_BYTES];
	ssize_t len = io_peek(fd, magic, sizeof(magic));

	return len > 0 ? packing_of_bytes(magic, (size_t)len) : PACKING_NONE;
}

static uint64_t foreign_file_limit(uint64_t packed)
{
	if (packed > FILE_MAX / UNPACKED_RATIO_MAX)
		return FILE_MAX;
	packed = packed * UNPACKED_RATIO_MAX + FREE_BYTES;
	return packed < FILE_MAX ? packed : FILE_MAX;
}

/* Copies the decompressed content of the source to the file `to`. Returns 0 or a negative errno
 * with a message in *err. */
static int foreign_file_copy(struct foreign_unpacking *u, enum packing packing, int to,
			     struct err *err)
{
	uint8_t *piece = malloc(PIECE_BYTES);
	uint64_t written = 0;
	ssize_t n = piece ? PIECE_BYTES : -ENOMEM;
	int r = 0;

	while (!r && n == PIECE_BYTES) {
		n = foreign_unpacking_read(u, piece, PIECE_BYTES);
		if (n > 0)
			r = io_write_all(to, piece, (size_t)n);
		written += n > 0 ? (uint64_t)n : 0;
		if (written > foreign_file_limit(u->taken))
			r = packing == PACKING_NONE
				    ? err_set(err, -EFBIG, "the file exceeds %d MB",
					      FILE_MAX >> 20)
				    : err_set(err, -EFBIG,
					      "it decompresses to more than %llu MB",
					      (unsigned long long)(foreign_file_limit(
									   u->taken) >>
								   20));
		else if (r)
			err_sys(err, r, "cannot write to $TMPDIR or /var/tmp");
	}
	free(piece);
	if (r)
		return r;
	if (n >= 0)
		n = unpacker_is_whole(u->unpacker) ? 0 : -EBADMSG;
	if (n == -EBADMSG)
		return err_set(err, -EBADMSG, "its %s data is damaged or truncated",
			       packing_name(packing));
	return n ? err_sys(err, (int)n, "cannot read it") : 0;
}

/* Replaces the descriptor of a compressed file or a pipe by that of a temporary file. */
static int foreign_file_spool(enum packing packing, int *fd, struct err *err)
{
	struct foreign_unpacking u = { 0 };
	const char *dir = "";
	int to = spool_open(&dir);
	int r = to < 0 ? to : foreign_unpacking_begin(&u, packing, *fd);

	if (r == -EOPNOTSUPP)
		err_set(err, r,
			"it is compressed by %s, which this build does not support: decompress it first",
			packing_name(packing));
	else if (r)
		err_sys(err, r, "cannot create a temporary file in '%s'", dir);
	if (!r)
		r = foreign_file_copy(&u, packing, to, err);
	foreign_unpacking_end(&u);
	if (r) {
		if (to >= 0)
			close(to);
		return r;
	}
	close(*fd);
	*fd = to;
	return 0;
}

static int foreign_file_map(struct foreign_file *f, int fd, struct err *err)
{
	struct stat st;
	int r = 0;

	f->data = "";
	if (fstat(fd, &st))
		return err_sys(err, -errno, "cannot read it");
	if (st.st_size > FILE_MAX)
		return err_set(err, -EFBIG, "the file exceeds %d MB", FILE_MAX >> 20);
	if (st.st_size)
		r = mapped_window(fd, 0, (size_t)st.st_size, &f->map);
	if (r)
		return err_sys(err, r, "cannot read it");
	if (st.st_size)
		f->data = (const char *)f->map.bytes;
	f->len = f->map.len;
	return 0;
}

static int foreign_file_read(struct foreign_file *f, int *fd, struct err *err)
{
	const enum packing packing = foreign_file_packing(*fd);
	struct stat st;
	int r = 0;

	if (packing != PACKING_NONE || fstat(*fd, &st) || !S_ISREG(st.st_mode) ||
	    lseek(*fd, 0, SEEK_CUR))
		r = foreign_file_spool(packing, fd, err);
	if (!r)
		r = foreign_file_map(f, *fd, err);
	if (r)
		return r;
	f->format = foreign_recognise(f->data, f->len);
	if (!f->format)
		return err_set(
			err, -EBADMSG,
			"unknown profile format (man opimport lists the formats that are read)");
	return f->format->read ? 0 : foreign_file_refuse(f->format, err);
}

int foreign_file_open(const char *path, enum trust trust, struct foreign_file *ret_file,
		      struct err *err)
{
	struct foreign_file f = { 0 };
	int fd = foreign_file_open_fd(path, trust, err);
	int r;

	if (fd < 0)
		return fd;
	r = foreign_file_read(&f, &fd, err);
	close(fd);
	if (r) {
		foreign_file_close(&f);
		err_prefix(err, "%s", foreign_file_name(path));
		return r;
	}
	*ret_file = f;
	return 0;
}

void foreign_file_drop(struct foreign_file *f, const char *at)
{
	size_t pos = (size_t)(at - f->data) & ~(size_t)(DROP_BYTES - 1);

	if (!f->map.len || at < f->data || at > f->data + f->len)
		return;
	/* A smaller position means that a reader begins its next pass. */
	if (pos + DROP_BYTES < f->dropped)
		f->dropped = pos;
	if (pos < f->dropped + 2 * DROP_BYTES)
		return;
	pos -= DROP_BYTES;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): the mapping is const for the readers */
	(void)madvise((void *)(uintptr_t)(f->map.bytes + f->dropped), pos - f->dropped,
		      MADV_DONTNEED);
	f->dropped = pos;
}

void foreign_file_close(struct foreign_file *f)
{
	mapped_release(&f->map);
}
