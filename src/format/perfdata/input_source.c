/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input_source.c - reads or maps the file or pipe. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "format/perfdata/input_priv.h"

enum {
	/* Windows end at multiples of the cell size and of the huge page size. A large folio in
	 * the page cache is then mapped in one step. A record that crosses the boundary makes
	 * the next window begin slightly earlier. */
	HUGE_PAGE_BYTES = 2 << 20,
	MAPPED_ENDS_BYTES = PERF_CELLS_BYTES * 8,
	/* Size of a mapped window. It is large, because each window costs system calls and TLB
	 * flushes on other CPUs. */
	MAPPED_BYTES = 2 * MAPPED_ENDS_BYTES,
	NUMBER_DIGITS = 9,   /* maximum digits of file numbers in a directory */
	SPARSE_BYTES = 4096, /* minimum stack bytes per sample for mapping the file */
	FEATURE_COMPRESSED = 27 /* tools/perf/Documentation/perf.data-file-format.txt */
};

static_assert(MAPPED_ENDS_BYTES % HUGE_PAGE_BYTES == 0, "");

static uint64_t part_end(const struct perf_part *part)
{
	uint64_t end;

	return __builtin_add_overflow(part->offset, part->size, &end) ? UINT64_MAX
								      : end;
}

static void perf_input_source_close_part(struct perf_input *in)
{
	perf_direct_stop(in);
	if (in->source.fd >= 0 && in->source.fd != in->main_fd)
		(void)close(in->source.fd);
	in->source.fd = -1;
}

/* Sets the end of the data. If the file is shorter than its header says, counts the missing
 * bytes. */
static void set_real_end(struct perf_input *in, const struct perf_part *part,
			 uint64_t file_bytes)
{
	struct perf_input_source *s = &in->source;

	if (file_bytes < part->offset)
		file_bytes = part->offset;
	if (file_bytes >= s->end)
		return;
	if (part->size != UINT64_MAX)
		in->damage.missing_bytes += s->end - file_bytes;
	s->end = file_bytes;
}

int perf_part_open(struct perf_input *in, size_t index, struct err *err)
{
	const struct perf_part *part = &in->parts.at[index];
	int fd = in->main_fd;
	struct stat st;

	int r;

	perf_input_source_close_part(in);
	in->source.direct_was_asked = false;
	if (part->name)
		fd = openat(in->dir_fd, part->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return err_sys(err, -errno, "cannot open '%s/%s'", in->name,
			       part->name);
	r = part->name ? trust_check(fd, in->trust, in->name, err) : 0;
	if (r) {
		(void)close(fd);
		return r;
	}
	in->part = index;
	in->source.fd = fd;
	in->source.at = part->offset;
	in->source.end = part_end(part);
	if (in->source.seekable && fstat(fd, &st) == 0)
		set_real_end(in, part, (uint64_t)st.st_size);
	return 0;
}

static ssize_t read_pipe(int fd, void *bytes, size_t len)
{
	ssize_t n;

	do {
		n = read(fd, bytes, len);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Reads the next bytes. If the file ends early, it was truncated while it was read: counts the
 * missing bytes. */
ssize_t perf_source_read(struct perf_input *in, void *bytes, size_t len,
			 struct err *err)
{
	struct perf_input_source *s = &in->source;
	ssize_t n;

	if (len > s->end - s->at)
		len = s->end - s->at;
	if (!len)
		return 0;
	n = s->seekable ? io_pread_full(s->fd, bytes, len, s->at)
			: read_pipe(s->fd, bytes, len);
	if (n < 0)
		return err_sys(err, (int)n, "cannot read '%s'", in->name);
	s->at += (uint64_t)n;
	if (n == 0) {
		if (s->end != UINT64_MAX)
			in->damage.missing_bytes += s->end - s->at;
		s->end = s->at;
	}
	return n;
}

bool perf_source_has_stacks(const struct perf_input *in)
{
	const struct perf_input_info *info = &in->info;

	for (size_t i = 0; i < info->events.nr; i++) {
		const struct perf_event_attr *a = &info->events.at[i].attr;

		if (a->sample_type & PERF_SAMPLE_STACK_USER &&
		    a->sample_stack_user >= SPARSE_BYTES)
			return true;
	}
	return false;
}

bool perf_source_is_sparse(const struct perf_input *in)
{
	return in->source.seekable && !in->source.unmappable &&
	       perf_source_has_stacks(in);
}

/* Returns whether reading is expensive: from a pipe, or from a file with compressed records. An
 * interrupted recording has no features that show the compression, but if it is compressed, opening
 * it has read the first frame. */
bool perf_input_is_work(const struct perf_input *in)
{
	const struct perf_input_frames *frames = in->damage.frames;

	return !in->source.seekable || frames[0].records || frames[1].records ||
	       in->info.features[0] >> FEATURE_COMPRESSED & 1;
}

/* Call when the file has ended at offset `file_bytes`. Sets the end of the data, and counts the
 * missing bytes, except those before offset `came`, which were delivered before the file was
 * truncated. */
static void note_end(struct perf_input *in, uint64_t file_bytes, uint64_t came)
{
	struct perf_input_source *s = &in->source;

	if (file_bytes < came)
		file_bytes = came;
	if (s->end == UINT64_MAX) {
		s->end = file_bytes;
	} else if (file_bytes < s->end) {
		in->damage.missing_bytes += s->end - file_bytes;
		s->end = file_bytes;
	}
	if (s->at > s->end)
		s->at = s->end;
}

int perf_source_map(struct perf_input *in, uint64_t from, struct perf_window **ret_win)
{
	struct perf_input_source *s = &in->source;
	uint64_t len = MAPPED_BYTES - from % MAPPED_ENDS_BYTES;
	struct stat st;
	int r;

	if (fstat(s->fd, &st) == 0)
		note_end(in, (uint64_t)st.st_size, s->at);
	if (s->at >= s->end)
		return 1;
	if (len > s->end - from)
		len = s->end - from;
	r = perf_window_map(s->fd, from, len, ret_win);
	if (r) {
		s->unmappable |= r != -EAGAIN;
		return r == -ENOMEM ? r : -EAGAIN;
	}
	s->at = from + len;
	return 0;
}

bool perf_source_cut(struct perf_input *in, struct perf_window *win, uint64_t base,
		     size_t pos)
{
	struct stat st;
	uint64_t size;

	if (fstat(in->source.fd, &st) < 0)
		return false;
	size = (uint64_t)st.st_size;
	if (size >= base + win->filled)
		return false;
	note_end(in, size, base + pos);
	win->filled = in->source.end - base;
	if (win->len > win->filled)
		win->len = win->filled;
	return true;
}

static int keep_data(const struct dirent *entry)
{
	return strncmp(entry->d_name, "data.", 5) == 0;
}

static int add_part(struct perf_input *in, const char *name, uint64_t size)
{
	struct perf_part *part;

	if (!vec_grow(&in->parts))
		return -ENOMEM;
	part = &in->parts.at[in->parts.nr];
	*part = (struct perf_part){ .name = strdup(name), .size = size };
	if (!part->name)
		return -ENOMEM;
	in->parts.nr++;
	return 0;
}

/* Returns how many files perf has created in a directory. There is one file per ring buffer, that
 * is, one per CPU: as many as an event has ids or, if a process has several threads, as there are
 * CPUs. The file of an idle CPU is empty. */
static uint64_t files_made(const struct perf_input *in)
{
	uint64_t nr = 0;

	if (!in->dir_version)
		return 0;
	for (size_t i = 0; i < in->info.events.nr; i++) {
		if (nr < in->info.events.at[i].ids.nr)
			nr = in->info.events.at[i].ids.nr;
	}
	return nr < in->info.nr_cpus_online ? nr : in->info.nr_cpus_online;
}

/* Returns N of "data.N", or UINT64_MAX if the name is not one of perf's. */
static uint64_t perf_input_source_number_of(const char *name)
{
	const char *digits = name + strlen("data.");
	size_t len = strspn(digits, "0123456789");
	uint64_t number = 0;

	if (!len || len > NUMBER_DIGITS || digits[len] || (len > 1 && *digits == '0'))
		return UINT64_MAX;
	for (size_t i = 0; i < len; i++)
		number = number * 10 + (uint64_t)(digits[i] - '0');
	return number;
}

static void count_missing_files(struct perf_input *in)
{
	uint64_t made = files_made(in), there = 0;

	for (size_t i = 1; i < in->parts.nr; i++) {
		uint64_t number = perf_input_source_number_of(in->parts.at[i].name);

		if (number == UINT64_MAX)
			continue;
		there++;
		if (made < number + 1)
			made = number + 1;
	}
	in->damage.missing_files = made > there ? made - there : 0;
}

struct perf_input_files_text
perf_input_files_text(const struct perf_input_damage *damage)
{
	struct perf_input_files_text t = { "" };

	if (damage->missing_files)
		(void)snprintf(t.text, sizeof(t.text), "%" PRIu64 " files missing, ",
			       damage->missing_files);
	return t;
}

/* Lists all files whose names begin with "data.": like perf_data__open_dir() of perf, treats them
 * as files that contain only records. */
int perf_parts_list(struct perf_input *in, struct err *err)
{
	struct dirent **entries;
	int nr = scandirat(in->dir_fd, ".", &entries, keep_data, versionsort);
	int r = 0;

	if (nr < 0)
		return err_sys(err, -errno, "cannot read '%s'", in->name);
	for (int i = 0; i < nr; i++) {
		const char *name = entries[i]->d_name;
		struct stat st;

		if (r == 0 && fstatat(in->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW)) {
			if (!err_is_absent(-errno))
				r = err_sys(err, -errno, "cannot stat '%s/%s'",
					    in->name, name);
		} else if (r == 0 && S_ISREG(st.st_mode)) {
			r = add_part(in, name, (uint64_t)st.st_size);
		}
		free(entries[i]);
	}
	free(entries);
	count_missing_files(in);
	return r < 0 ? err_sys(err, r, "cannot read '%s'", in->name) : 0;
}
