/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "capture/system/proc_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "unit.h"

static const char text[] =
	"00400000-0048a000 r-xp 0001f000 fe:03 960637       /usr/bin/a b (deleted)\n"
	"7ffe1000-7ffe2000 rw-s 00000000 00:00 0 \n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0          [vsyscall]\n"
	"1000-2000 r-xp 00000000 08:01 5 /tmp/new\\012line";

static void parses_lines(void **state)
{
	struct proc_map m;
	size_t pos = 0;

	(void)state;
	assert_int_equal(proc_map_next(text, strlen(text), &pos, true, &m), 0);
	assert_int_equal(m.start, 0x400000);
	assert_int_equal(m.end, 0x48a000);
	assert_int_equal(m.prot, PROT_READ | PROT_EXEC);
	assert_false(m.shared);
	assert_int_equal(m.pgoff, 0x1f000);
	assert_int_equal(m.maj, 0xfe);
	assert_int_equal(m.min, 3);
	assert_int_equal(m.ino, 960637);
	assert_true(m.deleted);
	assert_int_equal(m.path_len, strlen("/usr/bin/a b (deleted)"));
	assert_memory_equal(m.path, "/usr/bin/a b (deleted)", m.path_len);

	assert_int_equal(proc_map_next(text, strlen(text), &pos, true, &m), 0);
	assert_true(m.shared);
	assert_int_equal(m.path_len, 0);
	assert_int_equal(proc_map_next(text, strlen(text), &pos, true, &m), 0);
	assert_int_equal(m.end, 0xffffffffff601000ULL);
	assert_int_equal(m.prot, PROT_EXEC);
	assert_memory_equal(m.path, "[vsyscall]", m.path_len);

	/* The last line has no newline: it is incomplete, or it is the end. */
	assert_int_equal(proc_map_next(text, strlen(text), &pos, false, &m), 1);
	assert_int_equal(proc_map_next(text, strlen(text), &pos, true, &m), 0);
	assert_memory_equal(m.path, "/tmp/new\\012line", m.path_len);
	assert_int_equal(proc_map_next(text, strlen(text), &pos, true, &m), 1);
}

/* In memory of exactly that size, so that a sanitizer detects a read beyond the end. */
static void reads_no_prefix_beyond_its_end(void **state)
{
	(void)state;
	for (size_t len = 0; len <= strlen(text); len++) {
		char *copy = malloc(len + 1);
		struct proc_map m;
		size_t pos = 0;
		size_t before = 0;
		int r;

		assert_non_null(copy);
		memcpy(copy + 1, text, len);
		while ((r = proc_map_next(copy + 1, len, &pos, true, &m)) != 1) {
			assert_true(r == 0 || r == -EBADMSG);
			assert_true(pos > before);
			before = pos;
		}
		assert_int_equal(pos, len);
		free(copy);
	}
}

static void skips_malformed_lines(void **state)
{
	static const char *const bad[] = {
		"",
		"x",
		"1000",
		"1000-2000",
		"2000-1000 r-xp 0 0:0 0 /x",
		"1000-1000 r-xp 0 0:0 0 /x",
		"1000-2000 r-x 0 0:0 0 /x",
		"1000-2000 q-xp 0 0:0 0 /x",
		"1000-2000 r-xq 0 0:0 0 /x",
		"1000-2000 r-xp  0:0 0 /x",
		"1000-2000 r-xp 0 0 0 /x",
		"1000-2000 r-xp 0 0:0 12x /x",
		"1000-2000 r-xp 0 0:0",
		"1000-2000 r-xp 0 100000000:0 0 /x",
		"10000000000000000-2000 r-xp 0 0:0 0 /x",
		"1000-2000 r-xp 0 0:0 99999999999999999999 /x",
		"-1000-2000 r-xp 0 0:0 0 /x",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		char two[256];
		struct proc_map m;
		size_t pos = 0;

		strncpy(two, bad[i], sizeof(two) - 1);
		two[sizeof(two) - 1] = '\0';
		strncat(two, "\n1000-2000 r-xp 0 0:0 0\n",
			sizeof(two) - strlen(two) - 1);
		if (proc_map_next(two, strlen(two), &pos, true, &m) != -EBADMSG)
			fail_msg("taken: %s", bad[i]);
		assert_int_equal(proc_map_next(two, strlen(two), &pos, true, &m), 0);
		assert_int_equal(m.start, 0x1000);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(parses_lines),
		cmocka_unit_test(reads_no_prefix_beyond_its_end),
		cmocka_unit_test(skips_malformed_lines),
	};

	return UNIT_RUN(cases);
}
