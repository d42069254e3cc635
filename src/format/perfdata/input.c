/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perfdata/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/err.h"
#include "base/files/io.h"
#include "format/perfdata/input_priv.h"

enum {
	MAGIC_BYTES = 8,
	PIPE_HEADER_BYTES = 16,
	/* Header size of the first perf versions, which had no features: it ends where the feature
	 * bits are now. */
	OLDEST_HEADER_BYTES = offsetof(struct perf_data_header, features),
	FEATURE_HOSTNAME = 3, /* written by every perf that writes features */
	/* Opening reads at most this many bytes of a pipe to find its events. */
	AHEAD_BYTES_MAX = PERF_CHUNK_BYTES,
	LAST_KERNEL = 22,
	LAST_USER = 86
};

/* Returns whether the bytes are the magic of the first format. */
static bool is_first_format(const void *bytes, size_t len)
{
	return len >= MAGIC_BYTES && (memcmp(bytes, "PERFFILE", MAGIC_BYTES) == 0 ||
				      memcmp(bytes, "ELIFFREP", MAGIC_BYTES) == 0);
}

bool perf_input_is_perf(const void *bytes, size_t len)
{
	return perf_input_is_magic(bytes, len) || is_first_format(bytes, len);
}

bool perf_input_is_magic(const void *bytes, size_t len)
{
	uint64_t magic;

	if (len < sizeof(magic))
		return false;
	memcpy(&magic, bytes, sizeof(magic));
	return magic == PERF_DATA_MAGIC || magic == __builtin_bswap64(PERF_DATA_MAGIC);
}

static void set_classes(struct perf_input *in)
{
	memset(in->classes + PERF_RECORD_MMAP, CLASS_PLAIN, LAST_KERNEL);
	memset(in->classes + PERF_USER_HEADER_ATTR, CLASS_PLAIN,
	       LAST_USER - PERF_USER_HEADER_ATTR + 1);
	in->classes[PERF_RECORD_SAMPLE] = CLASS_FIRST_SAMPLE;
	in->classes[PERF_USER_HEADER_ATTR] = CLASS_INFO;
	in->classes[PERF_USER_EVENT_UPDATE] = CLASS_INFO;
	in->classes[PERF_USER_FEATURE] = CLASS_INFO;
	in->classes[PERF_USER_BUILD_ID] = CLASS_INFO;
	in->classes[PERF_USER_STAT_CONFIG] = CLASS_INFO;
	in->classes[PERF_USER_TRACING_DATA] = CLASS_PAYLOAD;
	in->classes[PERF_USER_AUXTRACE] = CLASS_PAYLOAD;
	in->classes[PERF_USER_COMPRESSED] = CLASS_COMPRESSED;
	in->classes[PERF_USER_COMPRESSED2] = CLASS_COMPRESSED;
	for (size_t i = 0; i < PERF_CLASSES; i++)
		in->limits[i] = in->classes[i] == CLASS_PLAIN ? UINT16_MAX : 0;
}

static int init_texts(struct perf_input_info *info)
{
	char **const texts[] = { &info->hostname, &info->os_release, &info->version,
				 &info->arch,     &info->cpu_desc,   &info->cpu_id,
				 &info->command };

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		if (perf_text_set(texts[i], "", 0))
			return -ENOMEM;
	}
	return 0;
}

static int input_new(const char *name, struct perf_input **ret_input)
{
	struct perf_input *in = calloc(1, sizeof(*in));

	if (!in)
		return -ENOMEM;
	perf_windows_init(&in->windows);
	in->dir_fd = in->main_fd = in->source.fd = -1;
	in->info.clock_id = -1;
	set_classes(in);
	in->name = strdup(name);
	if (!in->name || init_texts(&in->info) || perf_unzip_new(&in->unzip)) {
		perf_input_close(in);
		return -ENOMEM;
	}
	*ret_input = in;
	return 0;
}

static void free_info(struct perf_input_info *info)
{
	char *const texts[] = { info->hostname, info->os_release, info->version,
				info->arch,     info->cpu_desc,   info->cpu_id,
				info->command };

	for (size_t i = 0; i < COUNT_OF(texts); i++)
		free(texts[i]);
	for (size_t i = 0; i < info->events.nr; i++) {
		free(info->events.at[i].name);
		vec_done(&info->events.at[i].ids);
	}
	vec_done(&info->events);
	for (size_t i = 0; i < info->build_ids.nr; i++)
		free(info->build_ids.at[i].name);
	vec_done(&info->build_ids);
	for (size_t i = 0; i < info->symbol_files.nr; i++) {
		struct perf_input_symbol_file *file = &info->symbol_files.at[i];

		for (size_t j = 0; j < file->symbols.nr; j++)
			free(file->symbols.at[j].name);
		vec_done(&file->symbols);
		free(file->path);
	}
	vec_done(&info->symbol_files);
	for (size_t i = 0; i < info->codes.nr; i++)
		free(info->codes.at[i].bytes);
	vec_done(&info->codes);
}

static void drop_ahead(struct perf_input *in)
{
	while (in->nr_ahead_taken < in->ahead.nr)
		perf_input_release(in, &in->ahead.at[in->nr_ahead_taken++]);
	in->ahead.nr = 0;
	in->nr_ahead_taken = 0;
}

void perf_input_close(struct perf_input *in)
{
	if (!in)
		return;
	drop_ahead(in);
	vec_done(&in->ahead);
	perf_level_done(in, &in->raw);
	perf_level_done(in, &in->plain);
	perf_direct_stop(in);
	perf_windows_done(&in->windows);
	perf_unzip_free(in->unzip);
	free_info(&in->info);
	for (size_t i = 0; i < in->desc_names.nr; i++)
		free(in->desc_names.at[i]);
	vec_done(&in->desc_names);
	for (size_t i = 0; i < in->tracepoints.nr; i++)
		free(in->tracepoints.at[i].name);
	vec_done(&in->tracepoints);
	buf_done(&in->tracing);
	for (size_t i = 0; i < in->parts.nr; i++)
		free(in->parts.at[i].name);
	vec_done(&in->parts);
	if (in->source.fd >= 0 && in->source.fd != in->main_fd)
		(void)close(in->source.fd);
	if (in->main_fd >= 0)
		(void)close(in->main_fd);
	if (in->dir_fd >= 0)
		(void)close(in->dir_fd);
	free(in->name);
	free(in);
}

/* Reads the first PIPE_HEADER_BYTES, or fewer if the file is shorter. */
static int read_some(struct perf_input *in, uint8_t front[PIPE_HEADER_BYTES],
		     size_t *ret_got, struct err *err)
{
	ssize_t n = 1;

	for (*ret_got = 0; n > 0 && *ret_got < PIPE_HEADER_BYTES;) {
		n = perf_source_read(in, front + *ret_got, PIPE_HEADER_BYTES - *ret_got,
				     err);
		if (n > 0)
			*ret_got += (size_t)n;
	}
	return n < 0 ? (int)n : 0;
}

/* Reads the magic, which determines the byte order, and the header size, which determines whether
 * this is a pipe or a file. */
static int read_front(struct perf_input *in, uint8_t front[PIPE_HEADER_BYTES],
		      struct err *err)
{
	uint64_t magic;
	size_t got;
	int r;

	in->source.fd = in->main_fd;
	in->source.end = UINT64_MAX;
	r = read_some(in, front, &got, err);
	if (!r && perf_input_is_packed(front, got)) {
		r = perf_source_unpack(in, front, got, err);
		if (!r)
			r = read_some(in, front, &got, err);
	}
	if (r)
		return r;
	if (got == 0)
		return err_set(err, -EBADMSG, "'%s' is empty", in->name);
	if (is_first_format(front, got))
		return err_set(
			err, -EBADMSG,
			"'%s' has the first perf.data format, which perf last wrote in 2010: record again",
			in->name);
	if (got < PIPE_HEADER_BYTES || !perf_input_is_magic(front, got))
		return err_set(err, -EBADMSG, "'%s' is not a perf.data file", in->name);
	memcpy(&magic, front, sizeof(magic));
	in->info.swap = magic != PERF_DATA_MAGIC;
	return 0;
}

/* Swaps the two halves of each word of the feature bits if a 32-bit big-endian machine wrote the
 * file. The bits are an array of the writer's unsigned long, whose size the file does not contain:
 * see perf's perf_file_header__read(). */
static void fix_feature_words(struct perf_input *in)
{
	bool big = in->info.swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	uint64_t *words = in->info.features;

	if (!big || words[0] >> FEATURE_HOSTNAME & 1 ||
	    !(words[0] >> (32 + FEATURE_HOSTNAME) & 1))
		return;
	for (size_t i = 0; i < PERF_INPUT_FEATURES / 64; i++)
		words[i] = words[i] >> 32 | words[i] << 32;
}

static struct perf_data_section perf_input_take_section(struct cursor *c)
{
	struct perf_data_section s;

	s.offset = cursor_u64(c);
	s.size = cursor_u64(c);
	return s;
}

static int perf_input_read_header(struct perf_input *in, struct perf_data_header *h,
				  struct err *err)
{
	struct buf bytes = { 0 };
	uint64_t len = sizeof(*h);
	struct cursor c;
	int r;

	if (len > h->size)
		len = h->size;
	r = h->size < OLDEST_HEADER_BYTES ? -EBADMSG
					  : perf_file_read(in, 0, len, &bytes);
	c = cursor_of(bytes.data, bytes.len, in->info.swap);
	cursor_take(&c, PIPE_HEADER_BYTES);
	h->attr_size = cursor_u64(&c);
	h->attrs = perf_input_take_section(&c);
	h->data = perf_input_take_section(&c);
	h->event_types = perf_input_take_section(&c);
	for (size_t i = 0; i < PERF_INPUT_FEATURES / 64; i++)
		in->info.features[i] = cursor_u64(&c);
	buf_done(&bytes);
	fix_feature_words(in);
	return r ? err_set(err, r, "'%s': the header is truncated or damaged", in->name)
		 : 0;
}

static int perf_input_open_file(struct perf_input *in, struct perf_data_header *h,
				const uint8_t front[PIPE_HEADER_BYTES], struct err *err)
{
	struct perf_part *part = &in->parts.at[0];
	int r = 0;

	if (!in->source.seekable)
		r = perf_source_spool(in, front, PIPE_HEADER_BYTES, err);
	if (!r)
		r = perf_input_read_header(in, h, err);
	if (r)
		return r;
	r = perf_attrs_read(in, h, err);
	if (r)
		return r;
	part->offset = h->data.offset;
	part->size = h->data.size ? h->data.size : UINT64_MAX;
	in->info.interrupted = h->data.size == 0;
	if (!in->info.interrupted)
		return perf_features_read(in, h, err);
	/* perf sets the feature bits when it starts, but writes the features when it ends, so an
	 * interrupted recording lacks them. */
	memset(in->info.features, 0, sizeof(in->info.features));
	return 0;
}

static int push_ahead(struct perf_input *in, struct err *err)
{
	struct perf_chunk chunk;
	int r;

	if (!vec_grow(&in->ahead))
		return err_sys(err, -ENOMEM, "cannot read '%s'", in->name);
	r = perf_stream_next(in, &chunk, err);
	if (r == 0)
		in->ahead.at[in->ahead.nr++] = chunk;
	return r;
}

/* Reads chunks until the first sample, after which the list of events is complete. */
static int read_ahead(struct perf_input *in, struct err *err)
{
	size_t bytes = 0;
	int r = 0;

	while (r == 0 && !in->frozen && bytes < AHEAD_BYTES_MAX) {
		r = push_ahead(in, err);
		if (r == 0)
			bytes += in->ahead.at[in->ahead.nr - 1].len;
	}
	if (r < 0)
		return r;
	in->frozen = true;
	if (!in->info.events.nr)
		return err_set(err, -EBADMSG,
			       "'%s' contains no description of an event", in->name);
	return perf_events_name(in)
		       ? err_sys(err, -ENOMEM, "cannot read '%s'", in->name)
		       : 0;
}

static void find_clock(struct perf_input_info *info)
{
	const struct perf_event_attr *attr = &info->events.at[0].attr;

	if (info->clock_id < 0 && attr->use_clockid)
		info->clock_id = attr->clockid;
}

static int open_input(struct perf_input *in, struct err *err)
{
	uint8_t front[PIPE_HEADER_BYTES];
	struct perf_data_header h = { 0 };
	struct cursor c;
	int r;

	if (!vec_push(&in->parts, (struct perf_part){ .offset = PIPE_HEADER_BYTES,
						      .size = UINT64_MAX }))
		return err_sys(err, -ENOMEM, "cannot read '%s'", in->name);
	r = read_front(in, front, err);
	if (r)
		return r;
	c = cursor_of(front, sizeof(front), in->info.swap);
	cursor_u64(&c);
	h.size = cursor_u64(&c);
	in->info.is_pipe = h.size == PIPE_HEADER_BYTES;
	if (!in->info.is_pipe)
		r = perf_input_open_file(in, &h, front, err);
	if (r == 0 && in->dir_fd >= 0)
		r = perf_parts_list(in, err);
	if (r == 0)
		r = perf_stream_start(in, err);
	if (r == 0)
		r = read_ahead(in, err);
	if (r == 0)
		find_clock(&in->info);
	if (r == 0 && (perf_input_is_work(in) || perf_source_has_stacks(in)))
		in->windows.cell = PERF_LONG_CELL_BYTES;
	return r;
}

/* Opens a recording whose main file is open as `fd`, in the directory `dir_fd` (-1: a single
 * file). Takes ownership of both descriptors, even on an error. */
static int open_fds(int dir_fd, int fd, enum trust trust, const char *name,
		    struct perf_input **ret_input, struct err *err)
{
	struct perf_input *in = NULL;
	struct stat st;
	int r;

	r = input_new(name, &in);
	if (r) {
		(void)close(fd);
		if (dir_fd >= 0)
			(void)close(dir_fd);
		return err_sys(err, r, "cannot open '%s'", name);
	}
	in->dir_fd = dir_fd;
	in->main_fd = fd;
	in->trust = trust;
	in->info.is_directory = dir_fd >= 0;
	if (fstat(fd, &st) < 0) {
		r = err_sys(err, -errno, "cannot stat '%s'", name);
	} else {
		in->source.seekable = S_ISREG(st.st_mode);
		in->main_size = in->source.seekable ? (uint64_t)st.st_size : UINT64_MAX;
		r = open_input(in, err);
	}
	if (r) {
		perf_input_close(in);
		return r;
	}
	*ret_input = in;
	return 0;
}

int perf_input_open_fd(int fd, const char *name, struct perf_input **ret_input,
		       struct err *err)
{
	return open_fds(-1, fd, TRUST_ANY, name, ret_input, err);
}

/* Opens a recording that is a directory. Takes ownership of dir_fd, even on an error. */
static int open_directory(int dir_fd, enum trust trust, const char *path,
			  struct perf_input **ret_input, struct err *err)
{
	int fd = openat(dir_fd, "data", O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? err_sys(err, -errno, "cannot open '%s/data'", path)
		       : trust_check(fd, trust, path, err);

	if (!r)
		return open_fds(dir_fd, fd, trust, path, ret_input, err);
	if (fd >= 0)
		(void)close(fd);
	(void)close(dir_fd);
	return r;
}

static int open_stdin(struct perf_input **ret_input, struct err *err)
{
	int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return err_sys(err, -errno, "cannot read the standard input");
	return open_fds(-1, fd, TRUST_ANY, "standard input", ret_input, err);
}

/* Opens a file of a trusted owner. If it is a FIFO, checks the owner before waiting for a writer.
 * Returns a descriptor or a negative errno with a message. */
static int open_trusted(const char *path, enum trust trust, struct err *err)
{
	char again[sizeof("/proc/self/fd/-2147483648")];
	struct stat st;
	int fd = io_open(path, O_RDONLY | O_NONBLOCK, 0);
	int waiting, r;

	if (fd < 0)
		return err_sys(err, fd, "cannot open '%s'", path);
	r = trust_check(fd, trust, path, err);
	if (!r && (fstat(fd, &st) || !S_ISFIFO(st.st_mode)))
		return fd;
	if (r) {
		(void)close(fd);
		return r;
	}
	(void)snprintf(again, sizeof(again), "/proc/self/fd/%d", fd);
	waiting = io_open(again, O_RDONLY, 0);
	(void)close(fd);
	return waiting < 0 ? err_sys(err, waiting, "%s", path) : waiting;
}

int perf_input_open(const char *path, enum trust trust, struct perf_input **ret_input,
		    struct err *err)
{
	struct stat st;
	int fd;

	if (strcmp(path, "-") == 0)
		return open_stdin(ret_input, err);
	fd = open_trusted(path, trust, err);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		return open_directory(fd, trust, path, ret_input, err);
	return open_fds(-1, fd, trust, path, ret_input, err);
}

const struct perf_input_info *perf_input_info(const struct perf_input *in)
{
	return &in->info;
}

bool perf_input_is_complete(const struct perf_input *in)
{
	for (size_t i = 0; i < in->parts.nr; i++) {
		const struct perf_part *part = &in->parts.at[i];

		if (part->offset > in->main_size ||
		    (part->size != UINT64_MAX &&
		     part->size > in->main_size - part->offset))
			return false;
	}
	return true;
}

const struct perf_input_damage *perf_input_damage(const struct perf_input *in)
{
	return &in->damage;
}

int perf_input_next(struct perf_input *in, struct perf_chunk *ret_chunk,
		    struct err *err)
{
	if (in->nr_ahead_taken < in->ahead.nr) {
		*ret_chunk = in->ahead.at[in->nr_ahead_taken++];
		return 0;
	}
	return perf_stream_next(in, ret_chunk, err);
}

void perf_input_progress(const struct perf_input *in, uint64_t *ret_done,
			 uint64_t *ret_total)
{
	uint64_t total = 0;

	for (size_t i = 0; i < in->parts.nr; i++) {
		const struct perf_part *part = &in->parts.at[i];

		if (part->size != UINT64_MAX)
			total += part->size;
		else if (in->source.seekable && in->main_size > part->offset)
			total += in->main_size - part->offset;
	}
	*ret_total = total;
	*ret_done = __atomic_load_n(&in->taken, __ATOMIC_RELAXED);
}

int perf_input_rewind(struct perf_input *in, struct err *err)
{
	if (!in->source.seekable)
		return err_set(err, -ESPIPE,
			       "cannot read '%s' again: a pipe can be read only once",
			       in->name);
	drop_ahead(in);
	return perf_stream_start(in, err);
}
