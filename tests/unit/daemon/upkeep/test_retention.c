/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests aging segments, with a clock that the test sets. */
#include "base/array.h"
#include "daemon/upkeep/retention.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "daemon/upkeep/segment_merge.h"
#include "format/session/hold.h"
#include "format/session/session.h"
#include "unit.h"

enum {
	MINUTE = 60,
	HOUR = 3600,
	DAY = 86400
};

static const uint64_t begin_s = 1700006400; /* a midnight */
static char dir[64];
static uint64_t set_forward_s; /* the current time */

/* A disk that is full, and one that fails once. */
static bool disk_is_full;
static bool disk_fails;

int statvfs(const char *path, struct statvfs *fs)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -1 : fstatvfs(fd, fs);

	if (fd >= 0)
		close(fd);
	if (!r && disk_is_full)
		fs->f_bavail = 0;
	return r;
}

int fsync(int fd)
{
	if (disk_fails) {
		disk_fails = false;
		errno = EIO;
		return -1;
	}
	return fdatasync(fd);
}

static int set_up(void **state)
{
	(void)state;
	disk_is_full = disk_fails = false;
	set_forward_s = 0;
	snprintf(dir, sizeof(dir), "/tmp/retention-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return io_remove_tree(dir);
}

static uint64_t ns(uint64_t seconds)
{
	return seconds * 1000000000;
}

/* Writes a segment of `length_s` that began `at_s` after the start of the test, with one sample
 * per minute, each with a different time and function. */
static void write_segment(uint64_t at_s, uint64_t length_s, const char *boot,
			  bool finished)
{
	const struct session_info info = {
		.tool_version = "1",
		.hostname = "host",
		.os_release = "6.1",
		.machine = "x86_64",
		.cpu_desc = "",
		.boot_id = boot,
		.command = "oprofiled",
		.vmlinux = "",
		.start_ns = ns(at_s),
		.start_wall_ns = ns(begin_s + at_s),
	};
	struct session_totals totals = { .lost = 1,
					 .recorder_cpu_ns = 1000,
					 .finished = finished,
					 .end_ns = ns(at_s + length_s) };
	struct timespec times[2] = { 0 };
	struct segment_writer *w;
	struct thread thread = { .pid = 5,
				 .tid = (int32_t)(at_s / HOUR),
				 .app = DICT_NONE };
	struct event_desc event = { .frequency_hz = 99 };
	struct image image = { .kind = IMAGE_FILE, .inode = 5 };
	struct sample s = { .period = 7 };
	char *path;
	struct dict d;

	assert_int_equal(session_next_path(dir, &path, NULL), 0);
	assert_int_equal(dict_init(&d), 0);
	assert_int_equal(segment_writer_open(path, &info, &d, &w, NULL), 0);
	event.name = dict_string(&d, "TIMER");
	image.name = dict_string(&d, at_s % HOUR ? "/bin/prog" : "/bin/other");
	thread.comm = dict_string(&d, "prog");
	s.event = dict_event(&d, &event);
	s.thread = dict_thread(&d, &thread);
	for (uint64_t t = 0; t < length_s; t += MINUTE) {
		s.time_ns = ns(at_s + t);
		s.stack = dict_leaf(&d, dict_image(&d, &image), t);
		assert_int_equal(segment_writer_add(w, &s), 0);
		totals.samples++;
	}
	assert_int_equal(segment_writer_close(w, &totals, NULL), 0);
	times[1].tv_sec = (time_t)(begin_s + at_s + length_s);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	dict_done(&d);
	free(path);
}

static bool is_there(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !access(path, F_OK);
}

static bool file_is_sealed(int number)
{
	struct segment *s;
	char path[256];
	bool sealed;

	snprintf(path, sizeof(path), "%s/segment-%06d", dir, number);
	assert_int_equal(segment_open(path, TRUST_ANY, &s, NULL), 0);
	sealed = segment_info(s)->flags & SESSION_SEALED;
	segment_close(s);
	return sealed;
}

struct seen {
	uint64_t samples;
	uint64_t period;
	uint64_t lost;
	uint64_t first_s;
	size_t segments;
};

/* Reads the session. Times must rise, so that no sample occurs twice. */
static struct seen look(void)
{
	struct seen seen = { .first_s = UINT64_MAX };
	uint64_t last = 0;
	char **paths;

	if (session_list(dir, &paths, &seen.segments, NULL))
		return seen;
	for (size_t i = 0; i < seen.segments; i++) {
		struct sample_batch b;
		struct segment *s;

		assert_int_equal(segment_open(paths[i], TRUST_ANY, &s, NULL), 0);
		while (!segment_next(s, COLUMN_ALL, &b, NULL))
			for (size_t k = 0; k < b.nr; k++) {
				assert_true(b.time_ns[k] > last || !last);
				last = b.time_ns[k];
				if (seen.first_s == UINT64_MAX)
					seen.first_s = last / 1000000000;
				seen.samples++;
				seen.period += b.period[k];
			}
		assert_int_equal(segment_damage(s)->bad_samples, 0);
		assert_int_equal(segment_damage(s)->bad_blocks, 0);
		seen.lost += segment_totals(s)->lost;
		segment_close(s);
	}
	session_list_free(paths, seen.segments);
	return seen;
}

static size_t nr_open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t nr = 0;

	assert_non_null(d);
	while (readdir(d))
		nr++;
	closedir(d);
	return nr;
}

static struct retention_result turn_from(struct retention *r, uint64_t at_s,
					 uint64_t live_from)
{
	struct retention_result result = { 0 };
	struct err err = { 0 };

	r->boottime_ns = ns(at_s - set_forward_s);
	if (retention_look(r, dir, ns(begin_s + at_s), live_from, &result, &err))
		fail_msg("%s", err.text);
	return result;
}

/* Runs the retention once at a time; `live`: the last segment is being written. */
static struct retention_result turn(struct retention *r, uint64_t at_s, bool live)
{
	struct session_file *files;
	uint64_t last = UINT64_MAX;
	size_t nr;

	assert_int_equal(session_files(dir, &files, &nr), 0);
	if (live && nr)
		last = files[nr - 1].last;
	free(files);
	return turn_from(r, at_s, last);
}

static void parses_the_settings(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes, seconds;
	} rows[] = {
		{ "2G,30d", 2ULL << 30, 30 * DAY },
		{ "30d,2G", 2ULL << 30, 30 * DAY },
		{ "500M", 500ULL << 20, 0 },
		{ "1w", 0, 7 * DAY },
		{ "90m", 0, 90 * MINUTE },
		{ "64K,12h", 64ULL << 10, 12 * HOUR },
		{ "1T", 1ULL << 40, 0 },
	};
	static const char *const wrong[] = { "",
					     "2",
					     "G",
					     "2G,",
					     "2G,3G",
					     "0d",
					     ",1d",
					     "2X",
					     "1d,1h",
					     "-1d",
					     "1.5G",
					     "99999999999999999999d",
					     "18446744073709551615T" };
	struct retention r;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		assert_int_equal(retention_parse(rows[i].text, &r, NULL), 0);
		assert_true(r.max_bytes == rows[i].bytes);
		assert_true(r.max_age_ns == ns(rows[i].seconds));
	}
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		struct err err = { 0 };

		if (retention_parse(wrong[i], &r, &err) != -EINVAL)
			fail_msg("\"%s\" was taken", wrong[i]);
		assert_non_null(strstr(err.text, "2G,30d"));
	}
}

/* Six segments of ten minutes become one segment when the hour is over, and the parts are
 * deleted after a while. */
static void merges_segments_of_an_hour(void **state)
{
	struct retention r = { 0 };
	struct retention_result done;
	struct seen seen;

	(void)state;
	for (int i = 0; i < 7; i++)
		write_segment((uint64_t)i * 10 * MINUTE, 10 * MINUTE, "boot", true);
	assert_int_equal(turn(&r, HOUR - 1, true).nr_merged, 0);
	done = turn(&r, HOUR + 1, true);
	assert_int_equal(done.nr_merged, 6);
	assert_int_equal(done.nr_samples, 60);
	seen = look();
	assert_int_equal(seen.samples, 70);
	assert_int_equal(seen.period, 490);
	assert_int_equal(seen.lost, 7);
	assert_int_equal(seen.segments, 2);
	/* The parts still exist, but are ignored. */
	assert_int_equal(turn(&r, HOUR + 30, true).nr_merged, 0);
	turn(&r, HOUR + 70, true);
	seen = look();
	assert_int_equal(seen.samples, 70);
	for (int i = 1; i <= 6; i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s/segment-00000%d", dir, i);
		assert_int_equal(access(path, F_OK), -1);
	}
}

static bool is_part_there(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/segment-000001", dir);
	return !access(path, F_OK);
}

/* Merges six segments. Returns the lock of a reader that starts after that. */
static int merge_for_reader(struct retention *r)
{
	for (int i = 0; i < 7; i++)
		write_segment((uint64_t)i * 10 * MINUTE, 10 * MINUTE, "boot", true);
	assert_int_equal(turn(r, HOUR + 1, true).nr_merged, 6);
	return session_hold(dir);
}

/* A reader that has listed the parts opens them one by one. */
static void keeps_segments_for_a_reader(void **state)
{
	struct retention r = { 0 };
	int reader = merge_for_reader(&r);

	(void)state;
	assert_true(reader >= 0);
	assert_true(session_is_held(dir));
	turn(&r, HOUR + 30 * MINUTE, true);
	assert_true(is_part_there());
	close(reader);
	assert_false(session_is_held(dir));
	turn(&r, HOUR + 31 * MINUTE, true);
	assert_false(is_part_there());
}

/* A process that only holds the lock does not keep them longer. */
static void keeps_segments_an_hour_at_most(void **state)
{
	struct retention r = { 0 };
	int reader = merge_for_reader(&r);

	(void)state;
	turn(&r, 2 * HOUR, true);
	assert_true(is_part_there());
	turn(&r, 2 * HOUR + 2, true);
	assert_false(is_part_there());
	close(reader);
}

/* Does not merge segments of two boots, segments before and after a step of the clock, or the
 * segment being written. */
static void does_not_merge_incompatible_segments(void **state)
{
	struct retention r = { 0 };

	(void)state;
	write_segment(0, 10 * MINUTE, "one", true);
	write_segment(10 * MINUTE, 10 * MINUTE, "two", true);
	write_segment(20 * MINUTE, 10 * MINUTE, "three", true);
	assert_int_equal(turn(&r, 10 * DAY, false).nr_merged, 0);
	write_segment(30 * MINUTE, 10 * MINUTE, "three", true);
	assert_int_equal(turn(&r, 10 * DAY, true).nr_merged, 0);
	assert_int_equal(turn(&r, 10 * DAY, false).nr_merged, 2);
	assert_int_equal(look().samples, 40);
	{
		const struct session_info a = { .boot_id = "b",
						.hostname = "h",
						.os_release = "",
						.vmlinux = "",
						.start_ns = 100,
						.start_wall_ns = ns(5) };
		struct session_info b = a;

		b.start_ns = ns(600);
		b.start_wall_ns = ns(605) + 500000000;
		assert_true(segment_merge_fits(&a, &b));
		b.start_wall_ns = ns(605 + HOUR);
		assert_false(segment_merge_fits(&a, &b));
		b.start_wall_ns = ns(3);
		assert_false(segment_merge_fits(&a, &b));
	}
}

/* While a rotation closes a segment, the next one exists already: neither is touched. */
static void keeps_segments_after_the_live_one(void **state)
{
	struct retention r = { .max_bytes = 1 };

	(void)state;
	for (uint64_t i = 0; i < 4; i++)
		write_segment(i * 10 * MINUTE, 10 * MINUTE, "boot", true);
	assert_int_equal(turn_from(&r, 50 * MINUTE, 2).nr_expired, 1);
	assert_int_equal(look().segments, 3);
	r.max_bytes = 0;
	/* A maximum age that no clock reaches has no effect. */
	r.max_age_ns = UINT64_MAX;
	assert_int_equal(turn_from(&r, 10 * DAY, 2).nr_expired, 0);
	assert_int_equal(turn_from(&r, 10 * DAY, 2).nr_merged, 0);
	assert_int_equal(turn_from(&r, 10 * DAY, 4).nr_merged, 2);
	assert_int_equal(look().segments, 2);
}

/* A merge that was killed has no effect. */
static void ignores_a_torn_merge(void **state)
{
	struct retention r = { 0 };
	char path[128];

	(void)state;
	write_segment(0, 10 * MINUTE, "boot", true);
	write_segment(10 * MINUTE, 10 * MINUTE, "boot", true);
	snprintf(path, sizeof(path), "%s/.merging", dir);
	assert_int_equal(io_write_file(path, "half", 4, 0644), 0);
	assert_int_equal(look().samples, 20);
	assert_int_equal(turn(&r, 2 * HOUR, false).nr_merged, 2);
	assert_int_equal(look().samples, 20);
	assert_int_equal(access(path, F_OK), -1);
}

static void limits_size_and_age(void **state)
{
	struct retention r = { .max_age_ns = ns(2 * DAY) };
	struct retention_result done;
	uint64_t bytes;

	(void)state;
	for (int i = 0; i < 4; i++)
		write_segment((uint64_t)i * DAY, 10 * MINUTE, "boot", true);
	/* The first segment ended at 0:10. */
	assert_int_equal(turn(&r, 2 * DAY + 5 * MINUTE, false).nr_expired, 0);
	assert_int_equal(turn(&r, 2 * DAY + 11 * MINUTE, false).nr_expired, 1);
	assert_int_equal(look().first_s, DAY);
	done = turn(&r, 2 * DAY + 12 * MINUTE, false);
	bytes = done.bytes;
	assert_int_equal(done.nr_expired, 0);
	r.max_bytes = bytes - 1;
	done = turn(&r, 2 * DAY + 13 * MINUTE, false);
	assert_int_equal(done.nr_expired, 1);
	assert_true(done.bytes < bytes);
	assert_int_equal(look().first_s, 2 * DAY);
	/* The segment being written is never deleted. */
	r.max_bytes = 1;
	turn(&r, 2 * DAY + 14 * MINUTE, true);
	assert_int_equal(look().segments, 1);
	assert_int_equal(look().first_s, 3 * DAY);
}

/* An empty segment after a crash is not reported forever, and does not keep others from being
 * merged. */
static void removes_empty_segments(void **state)
{
	struct retention r = { 0 };
	struct timespec times[2] = { 0 };
	char path[128];
	int fd;

	(void)state;
	write_segment(0, 10 * MINUTE, "boot", true);
	for (int i = 2; i <= 3; i++) {
		snprintf(path, sizeof(path), "%s/segment-00000%d", dir, i);
		fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
		assert_true(fd >= 0);
		times[1].tv_sec = (time_t)(begin_s + 10 * MINUTE);
		assert_int_equal(futimens(fd, times), 0);
		close(fd);
	}
	/* The last segment is kept, because it can just have been started; so is one that has just
	 * changed. */
	turn(&r, 12 * MINUTE, true);
	assert_int_equal(access(path, F_OK), 0);
	turn(&r, 10 * MINUTE + 30, false);
	assert_int_equal(access(path, F_OK), 0);
	write_segment(20 * MINUTE, 10 * MINUTE, "boot", true);
	assert_int_equal(turn(&r, HOUR + 1, false).nr_merged, 2);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(look().segments, 1);
	assert_int_equal(look().samples, 20);
}

/* A merge is abandoned when a request waits for it, or when it uses too much memory, and leaves
 * no files. */
static void abandons_a_merge_on_request(void **state)
{
	atomic_bool stop = true;
	struct segment_merge_bounds bounds = { .stop = &stop };
	struct segment_merge_result merged;
	struct session_file *files;
	struct err err = { 0 };
	size_t nr;

	(void)state;
	for (uint64_t i = 0; i < 2; i++)
		write_segment(i * 10 * MINUTE, 10 * MINUTE, "boot", true);
	assert_int_equal(session_files(dir, &files, &nr), 0);
	assert_int_equal(segment_merge(dir, files, nr, &bounds, &merged, &err),
			 -ECANCELED);
	stop = false;
	bounds.max_bytes = 1;
	assert_int_equal(segment_merge(dir, files, nr, &bounds, &merged, &err), -E2BIG);
	assert_int_equal(look().segments, 2);
	assert_false(is_there(".merging"));
	bounds.max_bytes = 1 << 20;
	assert_int_equal(segment_merge(dir, files, nr, &bounds, &merged, &err), 0);
	assert_int_equal(look().segments, 1);
	free(files);
}

/* A scan that is stopped neither merges nor seals segments. Segments that used too much memory are
 * merged in smaller groups. */
static void stops_a_scan_on_request(void **state)
{
	atomic_bool stop = true;
	struct retention r = { .stop = &stop };
	struct retention_result done;

	(void)state;
	for (uint64_t i = 0; i < 6; i++)
		write_segment(i * 10 * MINUTE, 10 * MINUTE, "boot", true);
	done = turn(&r, HOUR + 1, false);
	assert_int_equal(done.nr_merged, 0);
	assert_int_equal(done.nr_sealed, 0);
	stop = false;
	retention_merge_less(&r, done.bytes);
	done = turn(&r, HOUR + 2, false);
	assert_true(done.nr_merged > 1 && done.nr_merged < 4);
	for (uint64_t i = 1; i < 6; i++)
		turn(&r, HOUR + i * 70, false);
	assert_in_range(look().segments, 2, 3);
	assert_int_equal(look().samples, 60);
}

/* Readers have a minute to open merged segments, even if the clock is set forward. */
static void keeps_segments_for_each_reader(void **state)
{
	struct retention r = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 6; i++)
		write_segment(i * 10 * MINUTE, 10 * MINUTE, "boot", true);
	assert_int_equal(turn(&r, HOUR + 1, false).nr_merged, 6);
	set_forward_s = 2 * HOUR;
	turn(&r, 3 * HOUR + 2, false);
	assert_true(is_there("segment-000001"));
	turn(&r, 3 * HOUR + 62, false);
	assert_false(is_there("segment-000001"));
}

/* Segments are not rewritten while the disk is full, but as soon as there is space. */
static void a_merge_needs_disk_space(void **state)
{
	struct retention r = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 6; i++)
		write_segment(i * 10 * MINUTE, 10 * MINUTE, "boot", true);
	disk_is_full = true;
	assert_int_equal(turn(&r, HOUR + 1, false).nr_merged, 0);
	assert_int_equal(turn(&r, HOUR + 2, false).nr_sealed, 0);
	disk_is_full = false;
	assert_int_equal(turn(&r, HOUR + 3, false).nr_merged, 6);
}

/* If a merge fails, later segments are still merged, and all segments are sealed. */
static void skips_a_merge_that_fails(void **state)
{
	struct retention r = { 0 };
	struct retention_result done;
	struct err err = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 12; i++)
		write_segment(i * 10 * MINUTE, 10 * MINUTE, "boot", true);
	disk_fails = true;
	assert_int_equal(retention_look(&r, dir, ns(begin_s + 2 * HOUR + 1), UINT64_MAX,
					&done, &err),
			 -EIO);
	assert_int_equal(done.nr_sealed, 1);
	done = turn(&r, 2 * HOUR + 2, false);
	assert_int_equal(done.nr_merged, 6);
	assert_true(is_there("segment-000007-000012"));
	turn(&r, 2 * HOUR + 70, false);
	assert_int_equal(turn(&r, 2 * HOUR + 71, false).nr_merged, 0);
	for (uint64_t i = 72; i < 78; i++)
		turn(&r, 2 * HOUR + i, false);
	assert_true(file_is_sealed(6));
	assert_int_equal(look().samples, 120);
	/* The failure has no effect on the next session. */
	retention_begin(&r);
	assert_int_equal(turn(&r, 2 * HOUR + 80, false).nr_merged, 6);
}

/* Parts that wait for readers do not count against the limits, and do not keep them from being
 * enforced. */
static void limits_hold_while_merged_segments_remain(void **state)
{
	struct retention r = { 0 };
	struct retention_result done;
	uint64_t bytes;

	(void)state;
	for (int i = 0; i < 7; i++)
		write_segment((uint64_t)i * 10 * MINUTE, 10 * MINUTE, "boot", true);
	bytes = turn(&r, HOUR + 1, true).bytes;
	r.max_bytes = bytes;
	done = turn(&r, HOUR + 2, true);
	assert_true(done.bytes > bytes);
	assert_int_equal(done.nr_expired, 0);
	write_segment(HOUR + 10 * MINUTE, 10 * MINUTE, "boot", true);
	r.max_bytes = 1;
	assert_int_equal(turn(&r, HOUR + 3, true).nr_expired, 2);
	assert_int_equal(look().segments, 1);
	assert_int_equal(look().samples, 10);
}

/* Writes a copy of that many bytes, last used that long after the start of the test. */
static void write_copy(const char *folder, const char *name, uint64_t at_s,
		       size_t bytes)
{
	static const char zeros[4096];
	struct timespec times[2] = { 0 };
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, folder);
	assert_int_equal(io_make_dirs(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/%s/%s", dir, folder, name);
	assert_int_equal(io_write_file(path, zeros, bytes, 0644), 0);
	times[1].tv_sec = (time_t)(begin_s + at_s);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* A finished segment is rewritten once, with all its samples; later it is merged as usual. */
static void seals_finished_segments(void **state)
{
	struct retention r = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++)
		write_segment((uint64_t)i * 10 * MINUTE, 10 * MINUTE, "boot", false);
	assert_int_equal(turn(&r, 30 * MINUTE, true).nr_sealed, 1);
	assert_true(file_is_sealed(1));
	assert_false(file_is_sealed(2));
	assert_int_equal(turn(&r, 31 * MINUTE, true).nr_sealed, 1);
	assert_true(file_is_sealed(2));
	assert_int_equal(turn(&r, 32 * MINUTE, true).nr_sealed, 0);
	assert_false(file_is_sealed(3)); /* is being written */
	assert_int_equal(look().samples, 30);
	assert_int_equal(look().period, 210);
	assert_int_equal(look().lost, 3);
	assert_int_equal(look().segments, 3);
	/* A sealed segment, and one that is not. */
	assert_int_equal(turn(&r, HOUR + 1, false).nr_merged, 3);
	assert_int_equal(look().samples, 30);
	assert_int_equal(look().segments, 1);
}

/* Rewriting the file would hide the damage of the old one. */
static void does_not_seal_damaged_segments(void **state)
{
	struct retention r = { 0 };
	char path[256];
	struct stat st;

	(void)state;
	for (int i = 0; i < 3; i++)
		write_segment((uint64_t)i * 10 * MINUTE, 10 * MINUTE, "boot", false);
	snprintf(path, sizeof(path), "%s/segment-%06d", dir, 1);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size - 8), 0);
	assert_int_equal(turn(&r, 30 * MINUTE, true).nr_sealed, 0);
	assert_false(file_is_sealed(1));
	/* The failure does not prevent the sealing of later segments. */
	assert_int_equal(turn(&r, 31 * MINUTE, true).nr_sealed, 1);
	assert_true(file_is_sealed(2));
	assert_int_equal(turn(&r, 32 * MINUTE, true).nr_sealed, 0);
	assert_int_equal(look().segments, 3);
}

/* A recording that starts during a look: its writer's lock shows it, whatever the caller knew. */
static void does_not_touch_the_live_segment(void **state)
{
	const struct session_info info = { .tool_version = "1",
					   .hostname = "host",
					   .os_release = "6.1",
					   .machine = "x86_64",
					   .cpu_desc = "",
					   .boot_id = "boot",
					   .command = "oprofiled",
					   .vmlinux = "",
					   .start_ns = ns(10 * MINUTE),
					   .start_wall_ns = ns(begin_s + 10 * MINUTE) };
	const struct session_totals totals = { 0 };
	struct retention r = { 0 };
	struct segment_writer *w;
	char path[256];
	struct dict d;

	(void)state;
	write_segment(0, 10 * MINUTE, "boot", true);
	snprintf(path, sizeof(path), "%s/segment-000002", dir);
	assert_int_equal(dict_init(&d), 0);
	assert_int_equal(segment_writer_open(path, &info, &d, &w, NULL), 0);
	assert_int_equal(turn(&r, HOUR + 1, false).nr_merged, 0);
	assert_false(file_is_sealed(2));
	assert_int_equal(turn(&r, HOUR + 2, false).nr_sealed, 0);
	assert_false(segment_writer_is_removed(w));
	r.max_bytes = 1;
	assert_int_equal(turn(&r, HOUR + 3, false).nr_expired, 1);
	assert_int_equal(turn(&r, HOUR + 4, false).nr_expired, 0);
	assert_false(segment_writer_is_removed(w));
	assert_int_equal(segment_writer_close(w, &totals, NULL), 0);
	r.max_bytes = 0;
	assert_int_equal(turn(&r, HOUR + 5, false).nr_sealed, 1);
	dict_done(&d);
}

static void removes_copies_with_their_segments(void **state)
{
	struct retention r = { .max_age_ns = ns(2 * DAY) };
	struct retention_result done;
	uint64_t segments;

	(void)state;
	for (int i = 0; i < 4; i++)
		write_segment((uint64_t)i * DAY, 10 * MINUTE, "boot", true);
	while (turn(&r, 10 * MINUTE, true).nr_sealed)
		;
	segments = turn(&r, 10 * MINUTE, true).bytes;
	write_copy("images", "0a", 10 * MINUTE, 100);
	write_copy("jit/5", "perf-5.map", DAY + 10 * MINUTE, 3000);
	write_copy("jit/5", "jit-5.dump", 3 * DAY, 4000);
	done = turn(&r, 20 * MINUTE, true);
	assert_int_equal(done.nr_copies, 0);
	assert_int_equal(done.bytes, segments + 7100);
	assert_int_equal(done.copy_bytes, 7100);
	/* First the first segment is too old, then its copy, and so on. */
	assert_int_equal(turn(&r, 2 * DAY + 11 * MINUTE, true).nr_expired, 1);
	assert_int_equal(turn(&r, 2 * DAY + 12 * MINUTE, true).nr_copies, 1);
	assert_false(is_there("images/0a"));
	assert_true(is_there("jit/5/perf-5.map"));
	assert_int_equal(turn(&r, 3 * DAY + 11 * MINUTE, true).nr_expired, 1);
	assert_int_equal(turn(&r, 3 * DAY + 12 * MINUTE, true).nr_copies, 1);
	assert_false(is_there("jit/5/perf-5.map"));
	/* There are too many bytes: the oldest segments are deleted, and the directory of the last
	 * one. */
	write_copy("jit/6", "perf-6.map", 3 * DAY + 1, 4000);
	r = (struct retention){ .max_bytes = 2 * 7000 };
	assert_int_equal(turn(&r, 3 * DAY + 13 * MINUTE, true).nr_copies, 1);
	assert_false(is_there("jit/5"));
	assert_true(is_there("jit/6/perf-6.map"));
}

/* A week with a segment every half hour, kept for three days: totals are always right, the
 * number of segments stays low, and neither files nor descriptors accumulate. */
static void simulates_a_week(void **state)
{
	struct retention r = { .max_age_ns = ns(3 * DAY) };
	size_t files = nr_open_files();
	uint64_t expired = 0;
	uint64_t merged = 0;
	struct seen seen;

	(void)state;
	for (uint64_t at = 0; at < 7 * DAY; at += 30 * MINUTE) {
		write_segment(at, 30 * MINUTE, "boot", true);
		for (int i = 1; i <= 5; i++) {
			struct retention_result done =
				turn(&r, at + (uint64_t)i * 5 * MINUTE, true);

			expired += done.nr_expired;
			merged += done.nr_merged;
		}
		if (at % (6 * HOUR))
			continue;
		seen = look();
		/* From the first remaining segment to now, without a gap. */
		assert_int_equal(seen.samples,
				 (at + 30 * MINUTE - seen.first_s) / MINUTE);
		assert_int_equal(seen.period, 7 * seen.samples);
		assert_true(seen.segments <= 4 + 24 + 3);
		if (at > 5 * DAY)
			assert_true(at - seen.first_s <= 4 * DAY + HOUR &&
				    at - seen.first_s >= 3 * DAY - HOUR);
		else if (at < 3 * DAY)
			assert_int_equal(seen.first_s, 0);
	}
	assert_true(expired > 0 && merged > 300);
	assert_int_equal(nr_open_files(), files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_the_settings),
		cmocka_unit_test_setup_teardown(merges_segments_of_an_hour, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(keeps_segments_for_a_reader, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(keeps_segments_an_hour_at_most, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(does_not_seal_damaged_segments, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(seals_finished_segments, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(does_not_touch_the_live_segment, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(abandons_a_merge_on_request, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(stops_a_scan_on_request, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(keeps_segments_for_each_reader, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_merge_needs_disk_space, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(skips_a_merge_that_fails, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(does_not_merge_incompatible_segments,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(keeps_segments_after_the_live_one,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(ignores_a_torn_merge, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(removes_empty_segments, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			limits_hold_while_merged_segments_remain, set_up, tear_down),
		cmocka_unit_test_setup_teardown(limits_size_and_age, set_up, tear_down),
		cmocka_unit_test_setup_teardown(removes_copies_with_their_segments,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(simulates_a_week, set_up, tear_down),
	};

	return UNIT_RUN(tests);
}
