/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/session/checksums.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/files/faults.h"
#include "base/files/io.h"
#include "format/session/checksum_list.h"
#include "unit.h"

static char top[64], file[96], list[96];

static int set_up(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "/tmp/checksums-XXXXXX");
	if (!mkdtemp(top))
		return -1;
	snprintf(file, sizeof(file), "%s/file", top);
	snprintf(list, sizeof(list), "%s/checksums", top);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return io_remove_tree(top);
}

static enum checksum state_of(const char *path)
{
	enum checksum state = CHECKSUM_UNKNOWN;
	int fd = io_open(path, O_RDONLY, 0);

	assert_true(fd >= 0);
	assert_int_equal(checksums_verify(fd, path, &state), 0);
	close(fd);
	return state;
}

static void flip(const char *path, size_t byte)
{
	struct buf bytes = { 0 };

	assert_int_equal(io_read_file(path, &bytes, 1 << 20), 0);
	bytes.data[byte % bytes.len] ^= 1;
	assert_int_equal(io_write_file(path, bytes.data, bytes.len, 0600), 0);
	buf_done(&bytes);
}

static void a_list_is_that_of_xxhsum(void **state)
{
	struct buf text = { 0 };

	(void)state;
	assert_int_equal(checksums_write_file(file, "abc", 3, 0640), 0);
	assert_int_equal(io_read_file(list, &text, 1 << 20), 0);
	buf_put_u8(&text, 0);
	assert_string_equal((char *)text.data, "XXH3_78af5f94892f3950  file\n"
					       "XXH3_78af5f94892f3950  file\n");
	buf_done(&text);
}

static void any_changed_byte_shows(void **state)
{
	static const char bytes[] = "ffffffff81000000 T _text\n";

	(void)state;
	assert_int_equal(checksums_write_file(file, bytes, sizeof(bytes) - 1, 0640), 0);
	assert_int_equal(state_of(file), CHECKSUM_GOOD);
	for (size_t i = 0; i < sizeof(bytes) - 1; i++) {
		flip(file, i);
		assert_int_equal(state_of(file), CHECKSUM_BAD);
		flip(file, i);
	}
	assert_int_equal(state_of(file), CHECKSUM_GOOD);
	assert_int_equal(truncate(file, 0), 0);
	assert_int_equal(state_of(file), CHECKSUM_BAD);
}

static void a_file_without_a_line_is_unknown(void **state)
{
	char other[96];

	(void)state;
	assert_int_equal(io_write_file(file, "abc", 3, 0640), 0);
	assert_int_equal(state_of(file), CHECKSUM_UNKNOWN);
	snprintf(other, sizeof(other), "%s/other", top);
	assert_int_equal(checksums_write_file(other, "abc", 3, 0640), 0);
	assert_int_equal(state_of(file), CHECKSUM_UNKNOWN);
}

/* The line is written before the contents: a crash in between leaves the old contents. */
static void either_contents_are_good(void **state)
{
	(void)state;
	assert_int_equal(checksums_write_file(file, "abc", 3, 0640), 0);
	assert_int_equal(checksums_add(file, "abcdef", 6), 0);
	assert_int_equal(state_of(file), CHECKSUM_GOOD);
	assert_int_equal(io_write_file(file, "abcdef", 6, 0640), 0);
	assert_int_equal(state_of(file), CHECKSUM_GOOD);
	assert_int_equal(io_write_file(file, "abcde", 5, 0640), 0);
	assert_int_equal(state_of(file), CHECKSUM_BAD);
}

static void copies_and_links_have_lines(void **state)
{
	char copy[96], link_path[96];
	int fd;

	(void)state;
	snprintf(copy, sizeof(copy), "%s/copy", top);
	snprintf(link_path, sizeof(link_path), "%s/link", top);
	assert_int_equal(checksums_write_file(file, "abc", 3, 0640), 0);
	fd = io_open(file, O_RDONLY, 0);
	assert_true(fd >= 0);
	assert_int_equal(checksums_copy(fd, copy, 3, NULL), 0);
	close(fd);
	assert_int_equal(state_of(copy), CHECKSUM_GOOD);
	assert_int_equal(link(file, link_path), 0);
	assert_int_equal(checksums_take(file, link_path), 0);
	assert_int_equal(state_of(link_path), CHECKSUM_GOOD);
	flip(copy, 1);
	assert_int_equal(state_of(copy), CHECKSUM_BAD);
}

static void a_damaged_file_is_not_used(void **state)
{
	uint64_t before = fault_count(FAULT_DAMAGED);
	struct buf bytes = { 0 };
	int fd;

	(void)state;
	assert_int_equal(checksums_write_file(file, "abc", 3, 0640), 0);
	flip(file, 0);
	assert_int_equal(checksums_read_file(file, &bytes, 100), -EBADMSG);
	assert_int_equal(bytes.len, 0);
	fd = io_open(file, O_RDONLY, 0);
	assert_true(fd >= 0);
	assert_false(checksums_usable(fd, file));
	assert_false(checksums_usable(fd, file));
	close(fd);
	assert_int_equal(fault_count(FAULT_DAMAGED), before + 1);
	buf_done(&bytes);
}

/* Damage of the list itself is reported, but a cut-off last line comes from a crash. */
static void a_damaged_list_is_reported(void **state)
{
	uint64_t before = fault_count(FAULT_DAMAGED);

	(void)state;
	assert_int_equal(checksums_write_file(file, "abc", 3, 0640), 0);
	assert_int_equal(truncate(list, 20), 0);
	assert_int_equal(state_of(file), CHECKSUM_UNKNOWN);
	assert_int_equal(fault_count(FAULT_DAMAGED), before);
	assert_int_equal(io_write_file(list, "XXH4_78af5f94892f3950  file\n", 28, 0600),
			 0);
	assert_int_equal(state_of(file), CHECKSUM_UNKNOWN);
	assert_int_equal(fault_count(FAULT_DAMAGED), before + 1);
}

/* No file is left that looks like a valid one. */
static void a_list_that_cannot_be_written_leaves_nothing(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(symlink("/dev/full", list), 0);
	assert_int_equal(checksums_write_file(file, "abc", 3, 0640), -ELOOP);
	assert_int_equal(access(file, F_OK), -1);
	fd = io_open("/proc/self/exe", O_RDONLY, 0);
	assert_true(fd >= 0);
	assert_int_equal(checksums_copy(fd, file, 100, NULL), -ELOOP);
	close(fd);
	assert_int_equal(access(file, F_OK), -1);
}

/* ---- missing files ---- */

static uint64_t nr_missing(void)
{
	uint64_t nr = UINT64_MAX;

	assert_int_equal(side_files_check(top, TRUST_OWN, &nr), 0);
	return nr;
}

static const char *below(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	return path;
}

static void write_below(const char *name)
{
	assert_int_equal(checksums_write_file(below(name), "abc", 3, 0640), 0);
}

static void a_promised_file_is_missed_if_it_is_not_there(void **state)
{
	uint64_t before = fault_count(FAULT_MISSING);

	(void)state;
	assert_int_equal(nr_missing(), 0);
	/* This is the state after a crash before the file was renamed. */
	assert_int_equal(checksums_add(file, "abc", 3), 0);
	assert_int_equal(nr_missing(), 0);
	write_below("file");
	assert_int_equal(nr_missing(), 0);
	/* The file still has its older contents. */
	assert_int_equal(checksums_add(file, "abcd", 4), 0);
	assert_int_equal(nr_missing(), 0);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(nr_missing(), 1);
	assert_int_equal(nr_missing(), 1);
	assert_int_equal(fault_count(FAULT_MISSING), before + 1);
	write_below("file");
	assert_int_equal(nr_missing(), 0);
	assert_int_equal(checksums_remove(file), 0);
	assert_int_equal(nr_missing(), 0);
	write_below("file");
	assert_int_equal(unlink(file), 0);
	assert_int_equal(nr_missing(), 1);
}

static void a_lost_directory_is_missed(void **state)
{
	(void)state;
	assert_int_equal(io_make_dirs(below("jit/7"), 0750), 0);
	assert_int_equal(io_make_dirs(below("images"), 0750), 0);
	write_below("jit/7/perf-7.map");
	write_below("images/one");
	write_below("images/other");
	assert_int_equal(nr_missing(), 0);
	assert_int_equal(unlink(below("jit/7/perf-7.map")), 0);
	assert_int_equal(nr_missing(), 1);
	assert_int_equal(unlink(below("jit/7/checksums")), 0);
	assert_int_equal(nr_missing(), 1);
	assert_int_equal(rmdir(below("jit/7")), 0);
	assert_int_equal(nr_missing(), 1);
	assert_int_equal(io_remove_tree(below("jit")), 0);
	assert_int_equal(io_remove_tree(below("images")), 0);
	assert_int_equal(nr_missing(), 2);
}

static void a_removed_directory_is_not_missed(void **state)
{
	(void)state;
	assert_int_equal(io_make_dirs(below("jit/7"), 0750), 0);
	write_below("jit/7/perf-7.map");
	assert_int_equal(checksums_remove(below("jit/7/perf-7.map")), 0);
	assert_int_equal(checksums_remove_directory(below("jit/7")), 0);
	assert_int_equal(access(below("jit/7"), F_OK), -1);
	assert_int_equal(nr_missing(), 0);
	/* Another process has the pid now. */
	assert_int_equal(io_make_dirs(below("jit/7"), 0750), 0);
	write_below("jit/7/perf-7.map");
	assert_int_equal(io_remove_tree(below("jit/7")), 0);
	assert_int_equal(nr_missing(), 1);
}

static void a_long_list_keeps_the_lines_of_what_is_there(void **state)
{
	struct stat st;

	(void)state;
	write_below("file");
	while (stat(list, &st) || st.st_size < (1 << 20)) {
		struct buf text = { 0 };

		for (int i = 0; i < 1000; i++) {
			checksum_list_put(&text, 5, "other");
			checksum_list_put(&text, CHECKSUM_REMOVED, "other");
		}
		assert_int_equal(io_read_file(list, &text, 1 << 30), 0);
		assert_int_equal(io_write_file(list, text.data, text.len, 0640), 0);
		buf_done(&text);
	}
	assert_int_equal(checksums_compact(top), 0);
	assert_int_equal(stat(list, &st), 0);
	assert_int_equal(st.st_size, 2 * strlen("XXH3_78af5f94892f3950  file\n"));
	assert_int_equal(state_of(file), CHECKSUM_GOOD);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(nr_missing(), 1);
}

static void names_stay_in_the_directory(void **state)
{
	static const char text[] = "XXH3_78af5f94892f3950  ../up\n"
				   "XXH3_78af5f94892f3950  ..\n"
				   "XXH3_78af5f94892f3950  ./\n"
				   "XXH3_78af5f94892f3950  /\n"
				   "XXH3_78af5f94892f3950  a/b\n"
				   "XXH3_78af5f94892f3950  a//\n"
				   "XXH3_78af5f94892f3950  \n";

	(void)state;
	assert_int_equal(io_write_file(list, text, sizeof(text) - 1, 0640), 0);
	assert_int_equal(nr_missing(), 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest cases[] = {
		CASE(a_list_is_that_of_xxhsum),
		CASE(any_changed_byte_shows),
		CASE(a_file_without_a_line_is_unknown),
		CASE(either_contents_are_good),
		CASE(copies_and_links_have_lines),
		CASE(a_damaged_file_is_not_used),
		CASE(a_damaged_list_is_reported),
		CASE(a_list_that_cannot_be_written_leaves_nothing),
		CASE(a_promised_file_is_missed_if_it_is_not_there),
		CASE(a_lost_directory_is_missed),
		CASE(a_removed_directory_is_not_missed),
		CASE(a_long_list_keeps_the_lines_of_what_is_there),
		CASE(names_stay_in_the_directory),
	};

	return UNIT_RUN(cases);
}
