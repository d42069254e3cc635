/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as output of perf record to a pipe, as far as it fits into one. */
#include <fcntl.h>
#include <unistd.h>

#include "drain_perf_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_input *in;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		abort();
	if (write(ends[1], data, size) < 0 && size)
		abort();
	close(ends[1]);
	if (perf_input_open_fd(ends[0], "fuzz", &in, NULL))
		return 0;
	drain(in);
	perf_input_close(in);
	return 0;
}
