/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a perf.data file twice: both reads must give the same records. */
#include <sys/mman.h>
#include <unistd.h>

#include "base/files/io.h"
#include "drain_perf_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_input_damage damage;
	struct perf_input *in;
	uint64_t bytes;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || io_write_all(fd, data, size))
		abort();
	if (perf_input_open_fd(fd, "fuzz", &in, NULL))
		return 0;
	bytes = drain(in);
	damage = *perf_input_damage(in);
	if (perf_input_rewind(in, NULL) || drain(in) != bytes ||
	    memcmp(&damage, perf_input_damage(in), sizeof(damage)) != 0)
		abort();
	perf_input_close(in);
	return 0;
}
