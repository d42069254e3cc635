/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "archive/make/jit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/make/collect.h"
#include "base/err.h"
#include "decode/record.h"
#include "format/perfdata/input.h"
#include "recordings/images.h"
#include "recordings/sources.h"
#include "resolve/jit/files.h"

enum {
	PATH_BYTES = 64
};

struct archive_jit_search {
	const struct archive_request *request;
	archive_jit_fn fn;
	void *ctx;
	uint64_t since_wall_ns; /* the recording's start; 0: unknown */
	uint64_t until_wall_ns; /* the recording's end; 0: unknown */
};

/* Passes an examined file to the callback. The path for opening it refers to the open
 * descriptor, so that the callback reads exactly this file. */
static int archive_jit_report(const struct archive_jit_search *s, int fd,
			      const char *path)
{
	char from[PATH_BYTES];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	return s->fn(s->ctx, from, path);
}

static const char *root_of(const struct archive_request *request)
{
	const struct location_options *locations = &request->locations;

	if (locations->archive)
		return locations->archive;
	return locations->root ? locations->root : "";
}

/* Looks for the perf map of a process. Returns the result of the callback, or 0 if the process has
 * no perf map. */
static int look_for_map(const struct archive_jit_search *s,
			const struct jit_locations *locations, int32_t pid)
{
	char name[PATH_BYTES], *found;
	int fd = -1, r = jit_open_map(locations, pid, &fd, &found);

	if (r)
		return r == -ENOMEM ? r : 0;
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", pid);
	r = archive_jit_report(s, fd, name);
	free(found);
	close(fd);
	return r;
}

static int look_for_dump(const struct archive_jit_search *s,
			 const struct record_mmap *m)
{
	const char *root = root_of(s->request);
	const struct jit_locations locations = { .session_dir = "",
						 .root = root,
						 .here = !root[0],
						 .since_wall_ns = s->since_wall_ns,
						 .until_wall_ns = s->until_wall_ns };
	char *found;
	int fd, r = jit_open_dump(&locations, m->pid, m->path, m->ino, &fd, &found);

	if (r)
		return r == -ENOMEM ? r : 0;
	r = archive_jit_report(s, fd, m->path);
	free(found);
	close(fd);
	return r;
}

static bool archive_jit_is_kept(const struct source_image *at, int32_t pid)
{
	char *path;
	bool is;

	if (!at->session_dir[0] ||
	    asprintf(&path, "%s/jit/%d", at->session_dir, pid) < 0)
		return false;
	is = !access(path, F_OK);
	free(path);
	return is;
}

int archive_jit_maps(const struct archive_request *request,
		     const struct source_image *at, archive_jit_fn fn, void *ctx,
		     bool *ret_any)
{
	const struct archive_jit_search s = { request, fn, ctx, 0, 0 };
	const char *root = root_of(request);
	const struct jit_locations locations = {
		.session_dir = "",
		.root = root,
		.here = !root[0],
		.since_wall_ns = at->info->start_wall_ns,
		.until_wall_ns = jit_recorded_until(at->recorded_in)
	};
	bool any = false;
	int r = 0;

	for (size_t i = 0; !r && i < at->dict->images.nr; i++) {
		const struct image *image = &at->dict->images.at[i];

		if (image->kind != IMAGE_ANON || image->pid <= 0)
			continue;
		any = true;
		if (!archive_jit_is_kept(at, image->pid))
			r = look_for_map(&s, &locations, image->pid);
	}
	*ret_any = any;
	return r;
}

/* ---- jitdump files, in the mappings of a perf.data ---- */

static int archive_jit_know_events(struct decoder *d,
				   const struct perf_input_info *from)
{
	int r = 0;

	for (size_t i = 0; !r && i < from->events.nr; i++) {
		const struct perf_input_event *event = &from->events.at[i];

		r = decoder_add_attr(d, &event->attr);
		for (size_t k = 0; !r && k < event->ids.nr; k++)
			r = decoder_add_id(d, event->ids.at[k], (uint32_t)i);
	}
	return r;
}

static int archive_jit_look_at(const struct archive_jit_search *s,
			       const struct decoder *d, const void *record, size_t len)
{
	struct record rec;

	if (decoder_record(d, record, len, &rec, NULL) ||
	    (rec.type != PERF_RECORD_MMAP && rec.type != PERF_RECORD_MMAP2) ||
	    !jit_dump_name(rec.mmap.path))
		return 0;
	return look_for_dump(s, &rec.mmap);
}

static int look_through(const struct archive_jit_search *s, const struct decoder *d,
			const struct perf_chunk *chunk, bool swap)
{
	size_t pos = 0;
	int r = 0;

	while (!r && chunk->len - pos >= sizeof(struct perf_event_header)) {
		struct perf_event_header h;

		memcpy(&h, chunk->bytes + pos, sizeof(h));
		if (swap) {
			h.type = __builtin_bswap32(h.type);
			h.size = __builtin_bswap16(h.size);
		}
		if (h.size < sizeof(h) || h.size > chunk->len - pos)
			break;
		if (h.type == PERF_RECORD_MMAP || h.type == PERF_RECORD_MMAP2)
			r = archive_jit_look_at(s, d, chunk->bytes + pos, h.size);
		pos += h.size;
	}
	return r;
}

int archive_jit_dumps(const struct archive_request *request,
		      const struct report_session *from, archive_jit_fn fn, void *ctx,
		      struct err *err)
{
	struct archive_jit_search s = { request, fn, ctx, 0,
					jit_recorded_until(from->dir) };
	struct perf_chunk chunk;
	struct perf_input *in;
	struct decoder d;
	int r = perf_input_open(from->dir, from->trust, &in, err);

	if (r)
		return r;
	s.since_wall_ns = perf_input_info(in)->clock_wall_ns;
	decoder_init(&d, perf_input_info(in)->swap);
	r = archive_jit_know_events(&d, perf_input_info(in));
	if (r)
		err_set(err, r, "out of memory");
	while (!r && !(r = perf_input_next(in, &chunk, err))) {
		r = look_through(&s, &d, &chunk, perf_input_info(in)->swap);
		perf_input_release(in, &chunk);
	}
	decoder_done(&d);
	perf_input_close(in);
	return r < 0 ? r : 0;
}
