/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads files that are not in the page cache, block by block in any order. */
#include "base/files/direct.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cold_file.h"

enum {
	MB = 1 << 20,
	FILE_BYTES = 20 * MB + 12345 /* its end is not aligned */
};

static uint8_t *made(void)
{
	uint32_t *words = malloc(FILE_BYTES + sizeof(*words));

	assert_non_null(words);
	for (uint32_t i = 0; i <= FILE_BYTES / sizeof(*words); i++)
		words[i] = i * 2654435761U;
	return (uint8_t *)words;
}

static uint8_t *place(void)
{
	uint8_t *memory = aligned_alloc(DIRECT_ALIGN, DIRECT_DEPTH * MB);

	assert_non_null(memory);
	return memory;
}

static void delivers_bytes_unchanged(void **state)
{
	uint8_t *all = made(), *memory = place();
	struct direct *d;
	int fd = cold_file(all, FILE_BYTES);

	(void)state;
	assert_int_equal(direct_open(fd, 2, &d), 0);
	for (uint64_t at = 0; at < FILE_BYTES; at += DIRECT_DEPTH * (uint64_t)MB) {
		for (unsigned int i = 0; i < DIRECT_DEPTH; i++)
			direct_ask(d, i, memory + i * MB, MB, at + i * (uint64_t)MB);
		direct_send(d);
		for (unsigned int i = DIRECT_DEPTH; i-- > 0;) {
			uint64_t from = at + i * (uint64_t)MB;
			ssize_t want = from >= FILE_BYTES ? 0
				       : FILE_BYTES - from < MB
					       ? (ssize_t)(FILE_BYTES - from)
					       : MB;

			assert_int_equal(direct_wait(d, i), want);
			assert_memory_equal(memory + i * MB, all + (want ? from : 0),
					    (size_t)want);
		}
	}
	direct_close(d);
	/* Reading did not add it to the page cache. */
	assert_true(direct_is_worth(fd, 0, FILE_BYTES));
	close(fd);
	free(memory);
	free(all);
}

static void chooses_direct_io_for_large_uncached_ranges(void **state)
{
	uint8_t *all = made();
	int fd = cold_file(all, FILE_BYTES);

	(void)state;
	assert_true(direct_is_worth(fd, 100, FILE_BYTES));
	assert_false(direct_is_worth(fd, 10 * MB, FILE_BYTES)); /* too little */
	assert_false(direct_is_worth(fd, FILE_BYTES, 100));
	assert_false(direct_is_worth(fd, 0, UINT64_MAX));
	assert_int_equal(pread(fd, all, FILE_BYTES, 0), FILE_BYTES);
	assert_false(direct_is_worth(fd, 0, FILE_BYTES));
	close(fd);
	free(all);
}

static void reports_errors(void **state)
{
	uint8_t *all = made(), *memory = place();
	struct direct *d;
	int fd = cold_file(all, FILE_BYTES);
	int ends[2];

	(void)state;
	assert_int_equal(direct_open(fd, 2, &d), 0);
	direct_ask(d, 0, memory, MB, 0);
	direct_ask(d, 1, memory + MB + 1, MB - DIRECT_ALIGN,
		   MB + 1); /* aligned to nothing */
	direct_ask(d, 2, memory + 2 * MB, MB, 2 * MB);
	direct_send(d);
	assert_int_equal(direct_wait(d, 0), MB);
	assert_int_equal(direct_wait(d, 2), MB);
	assert_memory_equal(memory + 2 * MB, all + 2 * MB, MB);
	assert_true(direct_wait(d, 1) < 0);
	/* Closed during a read: `memory` is not written to after that. */
	direct_ask(d, 0, memory, MB, 0);
	direct_ask(d, 1, memory + MB, MB, 0);
	direct_send(d);
	direct_close(d);
	close(fd);
	memset(memory, 0, DIRECT_DEPTH * MB);
	direct_close(NULL);
	assert_int_equal(pipe(ends), 0);
	assert_true(direct_open(ends[0], 2, &d) < 0);
	close(ends[0]);
	close(ends[1]);
	free(memory);
	free(all);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(delivers_bytes_unchanged),
		cmocka_unit_test(chooses_direct_io_for_large_uncached_ranges),
		cmocka_unit_test(reports_errors),
	};

	return UNIT_RUN(cases);
}
