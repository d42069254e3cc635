/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input_spool.c - copies a perf.data file that arrives through a pipe to a temporary file. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "base/files/spool.h"
#include "format/perfdata/input_priv.h"

/* If a file arrives through a pipe (`xzcat perf.data.xz | ...`), its features follow the data. So
 * it is copied to an unnamed file before it is parsed. */
enum {
	PIECE_BYTES = 1 << 18
};

/* Copies the rest of the pipe. Returns 0 or a negative errno. */
static int copy_rest(struct perf_input *in, int to, uint64_t *bytes, struct err *err)
{
	uint8_t *piece = malloc(PIECE_BYTES);
	ssize_t n = piece ? 1 : -ENOMEM;
	int r = 0;

	while (n > 0 && !r) {
		n = perf_source_read(in, piece, PIECE_BYTES, err);
		if (n > 0)
			r = io_write_all(to, piece, (size_t)n);
		if (n > 0 && !r)
			*bytes += (uint64_t)n;
	}
	free(piece);
	return n < 0 ? (int)n : r;
}

int perf_source_spool(struct perf_input *in, const void *front, size_t len,
		      struct err *err)
{
	const char *dir;
	uint64_t bytes = len;
	int fd = spool_open(&dir);
	int r = fd < 0 ? fd : io_write_all(fd, front, len);

	if (!r)
		r = copy_rest(in, fd, &bytes, err);
	if (r) {
		if (fd >= 0)
			(void)close(fd);
		return err_sys(
			err, r,
			"cannot copy the perf.data from the pipe '%s' to the directory '%s' (set TMPDIR to use another)",
			in->name, dir);
	}
	(void)close(in->main_fd);
	in->main_fd = fd;
	in->main_size = bytes;
	in->source =
		(struct perf_input_source){ .fd = fd, .seekable = true, .end = bytes };
	return 0;
}
