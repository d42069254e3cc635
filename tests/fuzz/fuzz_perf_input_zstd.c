/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A zstd stream in compressed records: the first byte selects their type and how the stream is
 * divided. */
#include <sys/mman.h>

#include "base/buf.h"
#include "base/files/io.h"
#include "drain_perf_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	COMPRESSED = 81,
	COMPRESSED2 = 83
};

/* A pipe with one event. */
static const uint8_t front[16 + 8 + 64] = {
	'P', 'E', 'R', 'F', 'I', 'L', 'E', '2', 16, 0, 0, 0, 0, 0, 0, 0, /* header */
	64,  0,   0,   0,   0,   0,   72,  0, /* HEADER_ATTR */
	1,   0,   0,   0,   64,  0,   0,   0, /* cpu-clock */
};

static void put_record(struct buf *out, uint8_t choice, const uint8_t *data, size_t len)
{
	bool sized = choice & 1;

	buf_put_u32(out, sized ? COMPRESSED2 : COMPRESSED);
	buf_put_u16(out, 0);
	buf_put_u16(out, (uint16_t)((sized ? 16 : 8) + len));
	if (sized)
		buf_put_u64(out, len);
	buf_put(out, data, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf file = { 0 };
	struct perf_input *in;
	uint8_t choice = size ? data[0] : 0;
	size_t piece = (size_t)(choice >> 1) * 16 + 1;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	buf_put(&file, front, sizeof(front));
	for (size_t at = 1; at < size; at += piece)
		put_record(&file, choice, data + at,
			   size - at < piece ? size - at : piece);
	if (fd < 0 || file.failed || io_write_all(fd, file.data, file.len) ||
	    perf_input_open_fd(fd, "fuzz", &in, NULL))
		abort();
	drain(in);
	perf_input_close(in);
	buf_done(&file);
	return 0;
}
