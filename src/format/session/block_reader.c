/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/session/block_reader.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/files/io.h"

enum {
	WINDOW_BYTES = 256 * 1024
};

/* Sets *ret_bytes to `len` bytes at offset `off` of the file, valid until the next call.
 * Returns 0, 1 if the file ends before (b->size is then correct), or a negative errno. */
static int block_reader_window_at(struct block_reader *b, uint64_t off, size_t len,
				  const uint8_t **ret_bytes)
{
	size_t want = len > WINDOW_BYTES ? len : WINDOW_BYTES;
	ssize_t got;

	if (off > b->size || len > b->size - off)
		return 1;
	if (off < b->window_off || off - b->window_off > b->window.len ||
	    len > b->window.len - (off - b->window_off)) {
		buf_clear(&b->window);
		if (want > b->size - off)
			want = b->size - off;
		if (!buf_reserve(&b->window, want))
			return -ENOMEM;
		got = io_pread_full(b->fd, b->window.data, want, off);
		if (got < 0)
			return (int)got;
		b->window_off = off;
		b->window.len = (size_t)got;
		if ((size_t)got < want)
			/* the file was truncated meanwhile */
			b->size = off + (size_t)got;
		if ((size_t)got < len)
			return 1;
	}
	*ret_bytes = b->window.data + (off - b->window_off);
	return 0;
}

int block_reader_init(struct block_reader *b, int fd)
{
	const uint8_t *bytes = NULL;
	struct stat st;
	int r;

	*b = (struct block_reader){ .fd = fd };
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	b->size = (uint64_t)st.st_size;
	r = block_reader_window_at(b, 0, SEGMENT_HEADER_BYTES, &bytes);
	if (!r)
		r = segment_header_parse(bytes, &b->salt);
	b->pos = SEGMENT_HEADER_BYTES;
	return r > 0 ? -EBADMSG : r;
}

void block_reader_done(struct block_reader *b)
{
	buf_done(&b->window);
}

/* Reads the block at b->pos. Returns 0; 1 if it is truncated or missing; -EILSEQ if the
 * bytes are not a block; -EBADMSG if only its payload is damaged (*ret_header is set); or
 * another negative errno. */
static int block_here(struct block_reader *b, struct block_header *ret_header,
		      const uint8_t **ret_payload)
{
	const uint8_t *bytes = NULL;
	int r = block_reader_window_at(b, b->pos, BLOCK_HEADER_BYTES, &bytes);

	if (r)
		return r;
	if (!block_header_parse(bytes, b->salt, ret_header))
		return -EILSEQ;
	r = block_reader_window_at(
		b, b->pos, BLOCK_HEADER_BYTES + (size_t)ret_header->len, &bytes);
	if (r)
		return r;
	*ret_payload = bytes + BLOCK_HEADER_BYTES;
	return block_payload_ok(ret_header, *ret_payload, b->salt) ? 0 : -EBADMSG;
}

/* Moves b->pos to the next valid header after bytes that are not a block. Returns 0, 1 if
 * not found, or a negative errno. */
static int block_reader_resync(struct block_reader *b)
{
	uint64_t off = b->pos + 1;

	/* Skip the holes of a sparse file, which contain no blocks. */
	while ((off = io_next_data(b->fd, off, b->size)) < b->size) {
		size_t len =
			b->size - off < WINDOW_BYTES ? b->size - off : WINDOW_BYTES;
		struct block_header header;
		const uint8_t *bytes = NULL;
		size_t at;
		int r = block_reader_window_at(b, off, len, &bytes);

		if (r < 0)
			return r;
		if (r)
			continue; /* b->size has changed */
		at = block_scan(bytes, 0, len);
		off += at;
		if (at == len)
			continue;
		r = block_reader_window_at(b, off, BLOCK_HEADER_BYTES, &bytes);
		if (r)
			return r;
		if (block_header_parse(bytes, b->salt, &header)) {
			b->pos = off;
			return 0;
		}
		off++;
	}
	return 1;
}

int block_reader_next(struct block_reader *b, struct block_header *ret_header,
		      struct cursor *ret_payload)
{
	const uint8_t *payload;
	int r;

	while ((r = block_here(b, ret_header, &payload)) != 0) {
		if (r == -EILSEQ) {
			r = block_reader_resync(b);
			b->bad_blocks += r == 0;
		} else if (r == -EBADMSG) {
			b->pos += BLOCK_HEADER_BYTES + (uint64_t)ret_header->len;
			b->bad_blocks++;
			r = 0;
		}
		if (r < 0)
			return r;
		if (r) { /* no whole block follows */
			b->cut_bytes += b->size - b->pos;
			b->pos = b->size;
			return 1;
		}
	}
	b->pos += BLOCK_HEADER_BYTES + (uint64_t)ret_header->len;
	*ret_payload = cursor_le(payload, ret_header->len);
	return 0;
}
