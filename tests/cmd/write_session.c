/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write_session SEGMENT < DESCRIPTION - writes a session segment from a readable description.
 * Lines have fields between bars:
 *
 *	info|CPU_MHZ|CPU_DESC|HOST|VMLINUX|START_NS|FLAGS|OS_RELEASE|BOOT_ID|START_WALL_NS
 *	event|NAME|ABOUT|FLAGS|COUNT|FREQUENCY|UNIT_MASK|MASK_ABOUT
 *	image|KIND|NAME|BUILD_ID_HEX|PID|START|END
 *	thread|PID|TID|COMM|APP_IMAGE or -|FLAGS|CGROUP
 *	sample|THREAD|EVENT|CPU|TIME_NS|PERIOD|FRAMES|REPEAT
 *	totals|LOST|THROTTLED|UNDECODABLE|RECORDER_CPU_NS
 *	share|EVENT|TEN_THOUSANDTHS of the time in which it had a counter
 *	side|NAME|PATH: copies the file at PATH into the session as NAME, with a checksum
 *	unfinished
 *	escapes
 *
 * After `escapes`, \xNN in a field is the byte NN, so that names can have any bytes but zero.
 * Objects are numbered from 0 in the order of their lines.  KIND is a number of enum
 * image_kind.  FRAMES is IMAGE+OFFSET;... from the leaf to the root; a T at the end marks the
 * stack as truncated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/parse.h"
#include "format/session/checksums.h"
#include "format/session/session.h"

enum {
	MAX_FIELDS = 10,
	MAX_FRAMES = 64,
	MAX_THINGS = 256
};

struct writing {
	const char *path;
	struct dict dict;
	struct session_info info;
	struct session_totals totals;
	struct segment_writer *writer;
	char *fields[MAX_FIELDS];
	size_t nr_fields;
	uint32_t images[MAX_THINGS];
	uint32_t threads[MAX_THINGS];
	uint32_t events[MAX_THINGS];
	size_t nr_images;
	size_t nr_threads;
	size_t nr_events;
	bool escapes;
	struct err err;
};

static void die(const char *what, const char *detail)
{
	fprintf(stderr, "write_session: %s: %s\n", what, detail);
	exit(2);
}

static const char *field(const struct writing *w, size_t i)
{
	return i < w->nr_fields ? w->fields[i] : "";
}

static uint64_t number(const struct writing *w, size_t i)
{
	const char *text = field(w, i);
	uint64_t v = 0;

	if (*text && !parse_u64(text, &v))
		die("not a number", text);
	return v;
}

static int32_t signed_number(const struct writing *w, size_t i)
{
	return strcmp(field(w, i), "-1") ? (int32_t)number(w, i) : -1;
}

/* Works in place, because the result is never longer. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *at = text; *at; to++) {
		char digits[3] = "";
		const char *end = digits;
		uint64_t v = 0;

		if (at[0] != '\\' || at[1] != 'x') {
			*to = *at++;
			continue;
		}
		memcpy(digits, at + 2, strnlen(at + 2, 2));
		if (!parse_hex_at(&end, &v) || *end || !v || end == digits + 1)
			die("not an escape", at);
		*to = (char)v;
		at += 4;
	}
	*to = '\0';
}

static void split(struct writing *w, char *line)
{
	char *rest = line;

	line[strcspn(line, "\n")] = '\0';
	w->nr_fields = 0;
	while (rest && w->nr_fields < MAX_FIELDS) {
		w->fields[w->nr_fields] = strsep(&rest, "|");
		if (w->escapes)
			unescape(w->fields[w->nr_fields]);
		w->nr_fields++;
	}
}

static void put_info(struct writing *w)
{
	w->info.cpu_mhz = 0;
	if (*field(w, 1) && !parse_double(field(w, 1), &w->info.cpu_mhz))
		die("not a number", field(w, 1));
	w->info.cpu_desc = strdup(field(w, 2));
	w->info.hostname = strdup(field(w, 3));
	w->info.vmlinux = strdup(field(w, 4));
	w->info.start_ns = number(w, 5);
	w->info.flags = (uint32_t)number(w, 6);
	w->info.os_release = strdup(field(w, 7));
	w->info.boot_id = strdup(field(w, 8));
	w->info.start_wall_ns = number(w, 9);
	if (*field(w, 8))
		w->info.clock_id = CLOCK_MONOTONIC; /* of that boot */
}

static void put_event(struct writing *w)
{
	struct event_desc e = {
		.name = dict_string(&w->dict, field(w, 1)),
		.about = dict_string(&w->dict, field(w, 2)),
		.flags = (uint32_t)number(w, 3),
		.count = number(w, 4),
		.frequency_hz = number(w, 5),
		.unit_mask = number(w, 6),
		.mask_about = dict_string(&w->dict, field(w, 7)),
		.config = w->nr_events,
	};

	w->events[w->nr_events++] = dict_event(&w->dict, &e);
}

static void put_build_id(struct build_id *id, const char *hex)
{
	for (; hex[0] && hex[1] && id->len < BUILD_ID_MAX; hex += 2) {
		char byte[3] = { hex[0], hex[1], 0 };
		const char *at = byte;
		uint64_t v;

		if (!parse_hex_at(&at, &v))
			die("not a build-id", hex);
		id->bytes[id->len++] = (uint8_t)v;
	}
}

static void put_image(struct writing *w)
{
	struct image image = {
		.kind = (enum image_kind)number(w, 1),
		.name = dict_string(&w->dict, field(w, 2)),
		.pid = signed_number(w, 4),
		.start = number(w, 5),
		.end = number(w, 6),
	};

	put_build_id(&image.build_id, field(w, 3));
	w->images[w->nr_images++] = dict_image(&w->dict, &image);
}

static void put_thread(struct writing *w)
{
	struct thread t = {
		.pid = signed_number(w, 1),
		.tid = signed_number(w, 2),
		.comm = dict_string(&w->dict, field(w, 3)),
		.app = strcmp(field(w, 4), "-") ? w->images[number(w, 4)] : DICT_NONE,
		.flags = (uint32_t)number(w, 5),
		.cgroup = dict_string(&w->dict, field(w, 6)),
	};

	t.ns_pid = t.pid;
	t.ns_tid = t.tid;
	w->threads[w->nr_threads++] = dict_thread(&w->dict, &t);
}

/* Builds the stack from its outermost frame to the leaf. */
static uint32_t parse_stack(struct writing *w, char *text)
{
	char *frames[MAX_FRAMES];
	size_t nr = 0;
	uint32_t stack = STACK_ROOT;

	while (text && nr < MAX_FRAMES)
		frames[nr++] = strsep(&text, ";");
	while (nr--) {
		char *offset = frames[nr];
		char *image = strsep(&offset, "+");
		uint64_t at = 0;
		uint64_t in = 0;

		if (!strcmp(image, "T")) {
			stack = STACK_TRUNCATED;
			continue;
		}
		if (!offset || !parse_u64(image, &in) || !parse_u64(offset, &at))
			die("not a frame", image);
		stack = dict_stack(&w->dict, stack,
				   dict_frame(&w->dict, w->images[in], at));
	}
	return stack;
}

static void put_sample(struct writing *w)
{
	struct sample s = {
		.thread = w->threads[number(w, 1)],
		.event = w->events[number(w, 2)],
		.cpu = (uint32_t)number(w, 3),
		.time_ns = number(w, 4),
		.period = number(w, 5),
		.stack = parse_stack(w, w->fields[6]),
	};
	uint64_t repeat = number(w, 7);

	if (!w->writer &&
	    segment_writer_open(w->path, &w->info, &w->dict, &w->writer, &w->err))
		die(w->path, w->err.text);
	for (uint64_t i = 0; i < repeat; i++) {
		if (segment_writer_add(w->writer, &s))
			die(w->path, "out of memory");
		w->totals.samples++;
	}
}

static void put_totals(struct writing *w)
{
	w->totals.lost = number(w, 1);
	w->totals.throttled = number(w, 2);
	w->totals.undecodable = number(w, 3);
	w->totals.recorder_cpu_ns = number(w, 4);
}

static void put_share(struct writing *w)
{
	if (number(w, 1) >= SESSION_EVENT_SHARES)
		die("no such event", field(w, 1));
	w->totals.event_shares[number(w, 1)] = (uint16_t)(number(w, 2) + 1);
}

static void put_side_file(struct writing *w)
{
	const char *slash = strrchr(w->path, '/');
	struct buf bytes = { 0 };
	char *path, *dir;

	if (asprintf(&path, "%.*s%s", slash ? (int)(slash + 1 - w->path) : 0, w->path,
		     field(w, 1)) < 0)
		die(w->path, "out of memory");
	dir = strdup(path);
	if (!dir || io_read_file(field(w, 2), &bytes, SIZE_MAX))
		die("cannot read", field(w, 2));
	if (strrchr(dir, '/'))
		*strrchr(dir, '/') = '\0';
	if (io_make_dirs(dir, RECORDING_DIR_MODE) ||
	    checksums_write_file(path, bytes.data, bytes.len, RECORDING_FILE_MODE))
		die("cannot write", path);
	buf_done(&bytes);
	free(path);
	free(dir);
}

static void put_unfinished(struct writing *w)
{
	w->totals.finished = false;
}

static void put_escapes(struct writing *w)
{
	w->escapes = true;
}

static const struct {
	const char *name;
	void (*put)(struct writing *w);
} kinds[] = {
	{ "info", put_info },       { "event", put_event },
	{ "image", put_image },     { "thread", put_thread },
	{ "sample", put_sample },   { "totals", put_totals },
	{ "share", put_share },     { "unfinished", put_unfinished },
	{ "escapes", put_escapes }, { "side", put_side_file },
};

static void put_line(struct writing *w, char *line)
{
	split(w, line);
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		if (!strcmp(kinds[i].name, field(w, 0))) {
			kinds[i].put(w);
			return;
		}
	}
	if (*field(w, 0) && field(w, 0)[0] != '#')
		die("unknown line", field(w, 0));
}

int main(int argc, char **argv)
{
	static struct writing w = {
		.info = { .tool_version = "test",
			  .hostname = "host",
			  .os_release = "",
			  .machine = "",
			  .cpu_desc = "",
			  .boot_id = "",
			  .command = "",
			  .vmlinux = "",
			  .start_ns = 1 },
		.totals = { .target_status = -1, .finished = true },
	};
	char *line = NULL;
	size_t room = 0;

	if (argc != 2)
		die("usage", "write_session SEGMENT < DESCRIPTION");
	w.path = argv[1];
	if (dict_init(&w.dict))
		die(w.path, "out of memory");
	while (getline(&line, &room, stdin) > 0)
		put_line(&w, line);
	free(line);
	if (!w.writer &&
	    segment_writer_open(w.path, &w.info, &w.dict, &w.writer, &w.err))
		die(w.path, w.err.text);
	if (segment_writer_close(w.writer, &w.totals, &w.err))
		die(w.path, w.err.text);
	dict_done(&w.dict);
	return 0;
}
