/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/dwarf/unpack.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/cursor.h"
#include "base/files/io.h"
#include "resolve/dwarf/section.h"
#include "resolve/elf/file.h"

enum {
	STEP = 256 * 1024,
	ZDEBUG_HEAD = 12,
	CHDR64 = 24,
	CHDR32 = 12,
	RATIO_MAX = 1100, /* deflate reaches 1032 */
	RATIO_LARGE = 64, /* for a section above large_bytes */
	PACKING_ZLIB = ELFCOMPRESS_ZLIB,
	PACKING_ZSTD = 2 /* ELFCOMPRESS_ZSTD */
};

static const uint64_t unpacked_max = 1ULL << 36;
/* Debug information compresses to a third or a tenth. A larger section that compresses far
 * better is an attempt to fill disks and memory: a file of 3 MB can decompress to 3 GB of
 * zeros, and has about ten such sections. */
static const uint64_t large_bytes = 64ULL << 20;

/* The destination of the decompressed bytes. */
struct dwarf_unpack_sink {
	struct dwarf_section *section;
	uint64_t done;
	/* Buffer for writing to the file; NULL: write to section->whole. */
	uint8_t *step;
};

struct source {
	const struct elf_file *f;
	uint64_t off;
	uint64_t left;
	uint64_t taken;
	uint8_t *bytes; /* of STEP bytes */
};

/* Reads the header: compression type and decompressed size. */
static int dwarf_unpack_read_head(const struct elf_file *f, const struct elf_section *e,
				  bool zdebug, unsigned int *ret_packing,
				  uint64_t *ret_bytes, size_t *ret_head)
{
	size_t len = zdebug ? ZDEBUG_HEAD : f->is64 ? CHDR64 : CHDR32;
	uint8_t raw[CHDR64] = { 0 };
	struct cursor c = cursor_of(raw, len, f->swap);
	int r;

	if (e->bytes < len)
		return -EBADMSG;
	r = elf_file_read(f, e->offset, raw, len);
	if (r)
		return r;
	if (zdebug) {
		uint64_t size = 0;

		if (memcmp(raw, "ZLIB", 4) != 0)
			return -EBADMSG;
		for (unsigned int i = 4; i < ZDEBUG_HEAD; i++)
			size = size << 8 | raw[i];
		*ret_packing = PACKING_ZLIB;
		*ret_bytes = size;
	} else {
		*ret_packing = cursor_u32(&c);
		if (f->is64)
			cursor_u32(&c); /* ch_reserved */
		*ret_bytes = f->is64 ? cursor_u64(&c) : cursor_u32(&c);
	}
	*ret_head = len;
	return 0;
}

/* Opens an unlinked file in $TMPDIR or /var/tmp, for data that is too large for memory. */
static int open_unlinked(void)
{
	const char *dir = getenv("TMPDIR");
	int fd = dir && *dir ? io_open(dir, O_TMPFILE | O_RDWR, 0600) : -ENOENT;

	return fd >= 0 ? fd : io_open("/var/tmp", O_TMPFILE | O_RDWR, 0600);
}

static int begin_sink(struct dwarf_unpack_sink *sink, uint64_t bytes)
{
	struct dwarf_section *s = sink->section;

	s->bytes = bytes;
	if (bytes <= DWARF_UNPACKED_IN_MEMORY) {
		s->whole = malloc((size_t)bytes);
		return s->whole ? 0 : -ENOMEM;
	}
	sink->step = malloc(STEP);
	if (!sink->step)
		return -ENOMEM;
	s->fd = open_unlinked();
	s->own_fd = s->fd >= 0;
	return s->fd < 0 ? s->fd : 0;
}

/* Returns the buffer for the next bytes. */
static uint8_t *sink_room(const struct dwarf_unpack_sink *sink, size_t *ret_len)
{
	uint64_t left = sink->section->bytes - sink->done;

	*ret_len = (size_t)(left < STEP ? left : STEP);
	return sink->step ? sink->step : sink->section->whole + sink->done;
}

/* Returns whether the output is too large for its input. Uses the bytes read so far: in a sparse
 * file, the compressed size is also untrusted. */
static bool dwarf_unpack_is_bomb(const struct source *in,
				 const struct dwarf_unpack_sink *out)
{
	return out->done > large_bytes && out->done / RATIO_LARGE > in->taken;
}

static int sink_put(const struct source *in, struct dwarf_unpack_sink *sink, size_t len)
{
	int r = dwarf_unpack_is_bomb(in, sink) ? -EFBIG
		: sink->step ? io_write_all(sink->section->fd, sink->step, len)
			     : 0;

	sink->done += len;
	return r;
}

/* Reads the next bytes of the compressed section; *ret_len is 0 at the end. */
static int next_packed(struct source *in, size_t *ret_len)
{
	size_t len = (size_t)(in->left < STEP ? in->left : STEP);
	int r = len ? elf_file_read(in->f, in->off, in->bytes, len) : 0;

	in->off += len;
	in->left -= len;
	in->taken += len;
	*ret_len = len;
	return r;
}

static int inflate_all(struct source *in, struct dwarf_unpack_sink *out)
{
	z_stream z = { 0 };
	int r = inflateInit(&z) == Z_OK ? 0 : -ENOMEM;
	int status = Z_OK;

	if (r)
		return r;
	while (!r && status != Z_STREAM_END && out->done < out->section->bytes) {
		size_t room;
		size_t len;

		if (!z.avail_in) {
			r = next_packed(in, &len);
			z.next_in = in->bytes;
			z.avail_in = (uInt)len;
			if (!len)
				break;
		}
		z.next_out = sink_room(out, &room);
		z.avail_out = (uInt)room;
		status = inflate(&z, Z_NO_FLUSH);
		/* Several consecutive streams are allowed. */
		if (status == Z_STREAM_END && (z.avail_in || in->left))
			status = inflateReset(&z);
		if (!r && status != Z_OK && status != Z_STREAM_END)
			r = -EBADMSG;
		if (!r)
			r = sink_put(in, out, room - z.avail_out);
	}
	inflateEnd(&z);
	return r;
}

static int unzstd_all(struct source *in, struct dwarf_unpack_sink *out)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_inBuffer from = { in->bytes, 0, 0 };
	int r = z ? 0 : -ENOMEM;

	while (!r && out->done < out->section->bytes) {
		ZSTD_outBuffer to = { 0 };
		size_t status;

		if (from.pos == from.size) {
			from.pos = 0;
			r = next_packed(in, &from.size);
			if (!from.size)
				break;
		}
		to.dst = sink_room(out, &to.size);
		status = ZSTD_decompressStream(z, &to, &from);
		if (!r && ZSTD_isError(status))
			r = -EBADMSG;
		if (!r)
			r = sink_put(in, out, to.pos);
	}
	ZSTD_freeDStream(z);
	return r;
}

static bool is_too_large(uint64_t bytes, uint64_t packed)
{
	uint64_t ratio = bytes > large_bytes ? RATIO_LARGE : RATIO_MAX;

	return bytes > unpacked_max || bytes / ratio > packed;
}

int dwarf_unpack(const struct elf_file *f, const struct elf_section *e, bool zdebug,
		 struct dwarf_section *s)
{
	struct dwarf_unpack_sink out = { .section = s };
	struct source in = { .f = f };
	unsigned int packing;
	uint64_t bytes;
	size_t head;
	int r = dwarf_unpack_read_head(f, e, zdebug, &packing, &bytes, &head);

	if (r)
		return r;
	if (packing != PACKING_ZLIB && packing != PACKING_ZSTD)
		return -EOPNOTSUPP;
	if (!bytes)
		return -ENODATA;
	if (is_too_large(bytes, e->bytes))
		return -EFBIG;
	in.off = e->offset + head;
	in.left = e->bytes - head;
	in.bytes = malloc(STEP);
	r = in.bytes ? begin_sink(&out, bytes) : -ENOMEM;
	if (!r)
		r = packing == PACKING_ZLIB ? inflate_all(&in, &out)
					    : unzstd_all(&in, &out);
	if (!r && out.done != bytes)
		r = -EBADMSG;
	free(out.step);
	free(in.bytes);
	return r;
}
