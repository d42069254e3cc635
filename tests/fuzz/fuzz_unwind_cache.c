/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_unwind_cache.c - files of unwind tables. Hashes and length are corrected, so that the
 * fuzzer reaches the data that they protect; then a stack is unwound with the tables. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/io.h"
#include "resolve/unwind/cache.h"
#include "unwind_file.h"
#include "unwind_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = "/tmp/fuzz_unwind_cache.XXXXXX";
	struct unwind_walk w = { 0 };
	uint8_t *copy = malloc(size + 1);
	int fd = mkostemp(path, O_CLOEXEC);

	if (copy && fd >= 0 && size >= UNWIND_FILE_HEAD) {
		memcpy(copy, data, size);
		unwind_file_put_right(copy, size);
		if (!io_write_all(fd, copy, size)) {
			free(unwind_cache_path_of(path));
			if (!unwind_cache_read(path, NULL, &w.table)) {
				w.base = w.table->base;
				walk_table(&w, data, size, data[0] & 64);
				unwind_table_free(w.table);
			}
		}
	}
	if (fd >= 0) {
		unlink(path);
		close(fd);
	}
	free(copy);
	return 0;
}
