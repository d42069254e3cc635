/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"
#include "record/keep/copy_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/charge.h"
#include "base/files/io.h"
#include "base/log.h"

#include "alloc_fail.h"
#include "unit.h"

static char folder[32];
static size_t nr_warnings;

static void count_warnings(enum log_level level, const char *text)
{
	(void)text;
	nr_warnings += level == LOG_WARNING;
}

static int set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/copy-list-XXXXXX");
	assert_non_null(mkdtemp(folder));
	nr_warnings = 0;
	log_set_sink(count_warnings);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return io_remove_tree(folder);
}

static char *in_folder(const char *name)
{
	static char path[4][128];
	static unsigned int turn;
	char *to = path[turn++ % 4];

	snprintf(to, sizeof(*path), "%s/%s", folder, name);
	return to;
}

static void write_file(const char *name, const char *text)
{
	assert_int_equal(io_write_file(in_folder(name), text, strlen(text), 0600), 0);
}

static const char *text_of(const char *name)
{
	static struct buf text;

	buf_clear(&text);
	if (io_read_file(in_folder(name), &text, 1000))
		return "";
	buf_put_u8(&text, 0);
	return (const char *)text.data;
}

/* Adds a file in its current state, to be copied to images/COPY or jit/COPY, for a user. */
static void take_for(struct copy_list *l, uint32_t user, const char *name,
		     bool is_binary, const char *copy)
{
	struct stat st;
	char what[] = "it";
	struct copy_job job = { .what = what, .is_binary = is_binary, .user = user };
	char to[64];

	snprintf(to, sizeof(to), "%s/%s", is_binary ? "images" : "jit", copy);
	job.path = in_folder(to);
	job.fd = io_open(in_folder(name), O_RDONLY, 0);
	assert_int_equal(fstat(job.fd, &st), 0);
	job.bytes = (uint64_t)st.st_size;
	job.mtime_ns = clock_ns(st.st_mtim);
	copy_list_take(l, &job);
}

static void take(struct copy_list *l, const char *name, bool is_binary,
		 const char *copy)
{
	take_for(l, 0, name, is_binary, copy);
}

static void set_time(const char *name, time_t seconds)
{
	const struct timespec times[2] = { { .tv_sec = seconds },
					   { .tv_sec = seconds } };

	assert_int_equal(utimensat(AT_FDCWD, in_folder(name), times, 0), 0);
}

static time_t time_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(in_folder(name), &st), 0);
	return st.st_mtime;
}

static void binaries_are_copied_once(void **state)
{
	struct copy_list l = { 0 };

	(void)state;
	write_file("one", "one");
	write_file("same", "one");
	take(&l, "one", true, "1");
	take(&l, "same", true, "1");
	assert_int_equal(l.jobs.nr, 1);
	/* The file is gone, but its descriptor is still open. */
	assert_int_equal(unlink(in_folder("one")), 0);
	assert_true(copy_list_make(&l, NULL));
	assert_string_equal(text_of("images/1"), "one");
	assert_int_equal(l.jobs.nr, 0);
	assert_int_equal(l.bytes.total, 0);
	/* An existing copy stays, and is marked as used. */
	set_time("images/1", 1000);
	write_file("other", "other");
	take(&l, "other", true, "1");
	assert_int_equal(l.jobs.nr, 0);
	assert_string_equal(text_of("images/1"), "one");
	assert_true(time_of("images/1") > 1000);
	assert_int_equal(nr_warnings, 0);
}

static void what_was_written_over_is_not(void **state)
{
	struct copy_list l = { 0 };

	(void)state;
	write_file("one", "one");
	take(&l, "one", true, "1");
	set_time("one", 4000000000);
	assert_true(copy_list_make(&l, NULL));
	assert_string_equal(text_of("images/1"), "");
	assert_int_equal(nr_warnings, 0);
}

static void what_grows_is_copied_as_it_is_then(void **state)
{
	struct copy_list l = { 0 };

	(void)state;
	write_file("map", "one");
	take(&l, "map", false, "1/map");
	set_time("map", 4000000000);
	assert_true(copy_list_make(&l, NULL));
	assert_string_equal(text_of("jit/1/map"), "one");
	write_file("map", "one, two");
	take(&l, "map", false, "1/map");
	assert_true(copy_list_make(&l, NULL));
	assert_string_equal(text_of("jit/1/map"), "one, two");
	take(&l, "map", false, "1/map");
	assert_int_equal(l.jobs.nr, 0);
}

static void who_stops_it_leaves_the_rest(void **state)
{
	const atomic_bool stop = true;
	struct copy_list l = { 0 };
	struct copy_list later = { 0 };

	(void)state;
	write_file("one", "one");
	write_file("two", "two");
	take(&l, "one", true, "1");
	take(&later, "two", true, "2");
	assert_false(copy_list_make(&l, &stop));
	assert_int_equal(l.jobs.nr, 1);
	assert_int_equal(l.bytes.total, 3);
	assert_string_equal(text_of("images/1"), "");
	copy_list_append(&l, &later);
	assert_int_equal(l.jobs.nr, 2);
	assert_int_equal(l.bytes.total, 6);
	assert_int_equal(later.jobs.nr, 0);
	assert_true(copy_list_make(&l, NULL));
	assert_string_equal(text_of("images/1"), "one");
	assert_string_equal(text_of("images/2"), "two");
	/* The other copies are not requested any more. */
	write_file("three", "three");
	take(&l, "three", true, "3");
	copy_list_done(&l);
	assert_int_equal(l.bytes.total, 0);
	assert_true(copy_list_make(&l, NULL));
	assert_string_equal(text_of("images/3"), "");
}

static void what_waits_is_bounded(void **state)
{
	struct copy_list l = { .max_bytes = 5 };

	(void)state;
	write_file("one", "one");
	write_file("two", "two");
	take(&l, "one", true, "1");
	take(&l, "two", true, "2");
	take(&l, "two", false, "2");
	assert_int_equal(l.jobs.nr, 1);
	assert_int_equal(nr_warnings, 2);
	assert_true(copy_list_make(&l, NULL));
	take(&l, "two", true, "2");
	assert_true(copy_list_make(&l, NULL));
	assert_string_equal(text_of("images/2"), "two");
	assert_int_equal(nr_warnings, 2);
}

static void who_has_the_most_gives_way(void **state)
{
	struct copy_list l = { .max_bytes = 20 };
	char copy[16];

	(void)state;
	write_file("theirs", "12345");
	write_file("ours", "6789");
	for (int i = 0; i < 4; i++) {
		snprintf(copy, sizeof(copy), "%d", i);
		take_for(&l, 65534, "theirs", true, copy);
	}
	assert_int_equal(nr_warnings, 0);
	/* Another file of the same user finds no room; one of another user does. */
	take_for(&l, 65534, "theirs", true, "4");
	assert_int_equal(nr_warnings, 1);
	take(&l, "ours", true, "5");
	assert_int_equal(nr_warnings, 2);
	take(&l, "ours", true, "6");
	assert_int_equal(nr_warnings, 3);
	assert_int_equal(l.jobs.nr, 4);
	assert_int_equal(l.bytes.total, 18);
	assert_true(copy_list_make(&l, NULL));
	assert_string_equal(text_of("images/0"), "12345");
	assert_string_equal(text_of("images/1"), "12345");
	assert_string_equal(text_of("images/2"), "");
	assert_string_equal(text_of("images/5"), "6789");
	assert_string_equal(text_of("images/6"), "6789");
	assert_int_equal(l.bytes.total, 0);
	assert_int_equal(l.files.total, 0);
}

/* Limits the number of files of another user, whatever their sizes. */
static void many_give_way(void **state)
{
	struct copy_list l = { 0 };
	char copy[16];

	(void)state;
	write_file("theirs", "1");
	write_file("ours", "ours");
	for (int i = 0; i < 4096 && l.files.total == (uint64_t)i; i++) {
		snprintf(copy, sizeof(copy), "1/%d", i);
		take_for(&l, 65534, "theirs", false, copy);
	}
	if (l.files.total < 4096) { /* not enough file descriptors */
		copy_list_done(&l);
		skip();
	}
	take_for(&l, 65534, "theirs", false, "1/more");
	assert_int_equal(l.files.total, 4096);
	assert_int_equal(nr_warnings, 1);
	take(&l, "ours", false, "2/ours");
	assert_int_equal(l.files.total, 4096);
	assert_int_equal(nr_warnings, 2);
	assert_true(copy_list_make(&l, NULL));
	assert_string_equal(text_of("jit/2/ours"), "ours");
	assert_string_equal(text_of("jit/1/0"), "1");
	assert_string_equal(text_of("jit/1/4095"), "");
}

static void a_copy_is_charged_to_its_user(void **state)
{
	struct copy_list l = { 0 };

	(void)state;
	write_file("theirs", "1");
	take_for(&l, 65534, "theirs", true, "1");
	take_for(&l, 65534, "theirs", false, "1/map");
	assert_true(copy_list_make(&l, NULL));
	if (charge_get(in_folder("images/1")) == CHARGE_UNKNOWN)
		skip(); /* /tmp does not support extended attributes */
	assert_int_equal(charge_get(in_folder("images/1")), 65534);
	assert_int_equal(charge_get(in_folder("jit/1/map")), 65534);
}

static void short_memory(void **state)
{
	struct copy_list l = { 0 };

	(void)state;
	write_file("one", "one");
	for (unsigned int n = 1; n <= 5; n++) {
		alloc_fail_at(n);
		take(&l, "one", true, "1");
		assert_true(alloc_fail_off());
		assert_int_equal(l.jobs.nr, 0);
		assert_int_equal(l.files.total, 0);
		assert_int_equal(nr_warnings, n);
		copy_list_done(&l);
	}
}

/* The files of others are limited for the whole recording, even if they are names of one file. */
static void files_of_another_user_are_limited(void **state)
{
	const uint32_t other = geteuid() + 1;
	struct copy_list l = { .max_of_user = 10 };

	(void)state;
	write_file("six", "123456");
	take_for(&l, other, "six", false, "one");
	assert_true(copy_list_make(&l, NULL));
	take_for(&l, other, "six", false, "two");
	take_for(&l, other, "six", false, "three");
	assert_int_equal(l.jobs.nr, 0);
	assert_int_equal(nr_warnings, 1);
	take_for(&l, other + 1, "six", false, "four");
	take_for(&l, geteuid(), "six", false, "five");
	take_for(&l, geteuid(), "six", false, "six");
	assert_true(copy_list_make(&l, NULL));
	assert_string_equal(text_of("jit/one"), "123456");
	assert_string_equal(text_of("jit/two"), "");
	assert_string_equal(text_of("jit/four"), "123456");
	assert_string_equal(text_of("jit/five"), "123456");
	assert_string_equal(text_of("jit/six"), "123456");
	assert_int_equal(nr_warnings, 1);
	copy_list_done(&l);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(files_of_another_user_are_limited),
		CASE(binaries_are_copied_once),
		CASE(what_was_written_over_is_not),
		CASE(what_grows_is_copied_as_it_is_then),
		CASE(who_stops_it_leaves_the_rest),
		CASE(what_waits_is_bounded),
		CASE(who_has_the_most_gives_way),
		CASE(many_give_way),
		CASE(a_copy_is_charged_to_its_user),
		CASE(short_memory),
	};

	struct rlimit limit;

	/* Each waiting copy has its file open. */
	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
