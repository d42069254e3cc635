/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The payload of a header feature: the first byte is its bit number, the lowest bit of the
 * second byte is the byte order. */
#include <sys/mman.h>

#include "base/files/io.h"
#include "drain_perf_input.h"
#include "format/perfdata/input_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A pipe with one event and nothing else. */
static const uint8_t carrier[16 + 8 + 64] = {
	'P', 'E', 'R', 'F', 'I', 'L', 'E', '2', 16, 0, 0, 0, 0, 0, 0, 0, /* header */
	64,  0,   0,   0,   0,   0,   72,  0, /* HEADER_ATTR */
	1,   0,   0,   0,   64,  0,   0,   0, /* cpu-clock */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_input *in;
	struct cursor payload;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || io_write_all(fd, carrier, sizeof(carrier)) ||
	    perf_input_open_fd(fd, "fuzz", &in, NULL))
		abort();
	if (size >= 2) {
		in->frozen = false; /* so that names of events are also read */
		in->info.swap = data[1] & 1;
		payload = cursor_of(data + 2, size - 2, data[1] & 1);
		perf_feature_parse(in, data[0], &payload);
	}
	perf_input_close(in);
	return 0;
}
