/* SPDX-License-Identifier: GPL-2.0-or-later */
/* touch_records FILE - measures the minimum cost of a report of a perf.data with stacks: maps the
 * file window by window and adds up the first bytes of each record. */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	WINDOW_BYTES = 1 << 20,
	LINE_BYTES = 64,
	/* Bytes read of each record: header, identity, the first callers. */
	LOOKED_AT = 320,
	HEADER_BYTES = 104,
	/* Index of the 8-byte word of the header with the offset of the data; the next one has its
	 * size. */
	DATA_AT = 5
};

static uint64_t sum;

/* Adds up bytes of each complete record in a window. Returns the number of bytes of these
 * records. */
static size_t touch(const uint8_t *bytes, size_t len)
{
	struct perf_event_header h;
	size_t at = 0;

	while (len - at >= sizeof(h)) {
		memcpy(&h, bytes + at, sizeof(h));
		if (h.size < sizeof(h) || h.size > len - at)
			break;
		for (size_t i = 0; i < h.size && i < LOOKED_AT; i += LINE_BYTES)
			sum += bytes[at + i];
		at += h.size;
	}
	return at;
}

static int touch_all(int fd, uint64_t at, uint64_t end)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	while (at < end) {
		uint64_t from = at - at % page;
		size_t len =
			end - from < WINDOW_BYTES ? (size_t)(end - from) : WINDOW_BYTES;
		uint8_t *bytes =
			mmap(NULL, len, PROT_READ, MAP_SHARED, fd, (off_t)from);
		size_t taken;

		if (bytes == MAP_FAILED)
			return -1;
		taken = touch(bytes + (at - from), len - (size_t)(at - from));
		munmap(bytes, len);
		if (!taken)
			break;
		at += taken;
	}
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t header[HEADER_BYTES / 8];
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0 || pread(fd, header, sizeof(header), 0) != sizeof(header) ||
	    touch_all(fd, header[DATA_AT], header[DATA_AT] + header[DATA_AT + 1])) {
		fprintf(stderr, "usage: touch_records FILE\n");
		return EXIT_FAILURE;
	}
	printf("%" PRIu64 "\n", sum);
	return EXIT_SUCCESS;
}
