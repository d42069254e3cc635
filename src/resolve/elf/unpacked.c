/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/elf/unpacked.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/files/faults.h"
#include "base/files/io.h"
#include "base/files/trust.h"
#include "resolve/elf/file.h"
#include "resolve/elf/gzip.h"
#include "resolve/elf/xz.h"

enum {
	MAGIC_BYTES = 6
};

size_t unpacked_limit(size_t packed, size_t max)
{
	size_t limit;

	if (__builtin_mul_overflow(packed, (size_t)UNPACKED_RATIO_MAX, &limit) ||
	    __builtin_add_overflow(limit, (size_t)UNPACKED_FREE_BYTES, &limit))
		return max;
	return limit < max ? limit : max;
}

/* Decompresses, in one call, a single complete frame that contains its size. Returns false for
 * all other input; the caller then decompresses it as a stream. */
static bool unpack_whole(const struct buf *packed, size_t max, struct buf *out)
{
	unsigned long long size = ZSTD_getFrameContentSize(packed->data, packed->len);
	size_t n;

	if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ||
	    size > max || !buf_reserve(out, (size_t)size + 1))
		return false;
	n = ZSTD_decompress(out->data, (size_t)size, packed->data, packed->len);
	if (ZSTD_isError(n))
		return false;
	out->len = n;
	return true;
}

int unpacked_zstd(const struct buf *packed, size_t max, struct buf *out)
{
	ZSTD_inBuffer in = { packed->data, packed->len, 0 };
	ZSTD_DCtx *ctx;
	size_t left = 1;
	int r = 0;

	max = unpacked_limit(packed->len, max);
	if (unpack_whole(packed, max, out))
		return 0;
	ctx = ZSTD_createDCtx();
	if (!ctx || out->failed)
		r = -ENOMEM;
	while (!r && (in.pos < in.size || left)) {
		size_t step = ZSTD_DStreamOutSize(), before = in.pos;
		ZSTD_outBuffer to;

		if (out->len > max)
			r = -EFBIG;
		else if (!buf_reserve(out, step))
			r = -ENOMEM;
		if (r)
			break;
		to = (ZSTD_outBuffer){ out->data + out->len, step, 0 };
		left = ZSTD_decompressStream(ctx, &to, &in);
		out->len += to.pos;
		if (ZSTD_isError(left) || (!to.pos && in.pos == before && left))
			r = -EBADMSG;
	}
	ZSTD_freeDCtx(ctx);
	return r;
}

int unpacked_bytes(const struct buf *packed, struct buf *out)
{
	static const uint8_t xz[MAGIC_BYTES] = { 0xfd, '7', 'z', 'X', 'Z', 0 };
	size_t max = unpacked_limit(packed->len, UNPACKED_MAX_BYTES);

	if (packed->len >= MAGIC_BYTES && !memcmp(packed->data, xz, MAGIC_BYTES))
		return xz_unpack(packed->data, packed->len, max, out);
	if (packed->len > 1 && packed->data[0] == 0x1f)
		return gzip_unpack(packed->data, packed->len, max, out);
	return unpacked_zstd(packed, UNPACKED_MAX_BYTES, out);
}

/* `is_exclusive` is the result of trust_is_exclusive() for the compressed file. The mode of the
 * new file makes the result the same for it. */
static int file_in_memory(const struct buf *b, bool is_exclusive)
{
	int fd = memfd_create("unpacked", MFD_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = fchmod(fd, is_exclusive ? 0600 : 0666) ? -errno : 0;
	if (!r)
		r = io_write_all(fd, b->data, b->len);
	if (!r)
		return fd;
	close(fd);
	return r;
}

/* Opens the content of the compressed file at `fd`, and closes `fd`. */
static int open_content(int fd)
{
	struct buf packed = { 0 }, content = { 0 };
	bool is_exclusive = trust_is_exclusive(fd);
	int r = io_read_fd(fd, &packed, UNPACKED_PACKED_MAX);

	if (r != -EFBIG)
		fault_unreadable_fd(fd, r);
	close(fd);
	if (!r)
		r = unpacked_bytes(&packed, &content);
	if (!r)
		r = file_in_memory(&content, is_exclusive);
	buf_done(&packed);
	buf_done(&content);
	return r;
}

int unpacked_open(const char *path)
{
	static const uint8_t magics[][MAGIC_BYTES] = {
		{ 0xfd, '7', 'z', 'X', 'Z', 0 },
		{ 0x28, 0xb5, 0x2f, 0xfd },
		{ 0x1f, 0x8b, 8 }, /* deflate, the only method */
	};
	static const size_t lengths[] = { 6, 4, 3 };
	uint8_t head[MAGIC_BYTES] = { 0 };
	int fd = elf_open_regular(path);

	if (fd < 0 || io_pread_full(fd, head, sizeof(head), 0) < MAGIC_BYTES)
		return fd;
	for (size_t i = 0; i < COUNT_OF(lengths); i++)
		if (!memcmp(head, magics[i], lengths[i]))
			return open_content(fd);
	return fd;
}
