#include "tools/archive_jit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "decode/record.h"
#include "format/perf_input.h"
#include "tools/archive_collect.h"
#include "tools/jit_keeper.h"
#include "tools/source_images.h"

enum {
	PATH_BYTES = 64
};

struct search {
	const struct archive_request *request;
	archive_jit_fn fn;
	void *ctx;
};

/* By its descriptor, so that it is the file that was looked at. */
static int tell(const struct search *s, int fd, const char *path)
{
	char from[PATH_BYTES];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	return s->fn(s->ctx, from, path);
}

/* Where there is no such file, or none that is meant, 0. */
static int look(const struct search *s, const char *path, uint64_t inode,
		uint64_t not_before_ns)
{
	const struct places_options *places = &s->request->places;
	const char *root = places->archive ? places->archive
			   : places->root  ? places->root
					   : "";
	struct stat st;
	char *file;
	int fd, r = 0;

	if (asprintf(&file, "%s%s", root, path) < 0)
		return -ENOMEM;
	/* Copies have inodes and ages of their own. */
	fd = jit_open(file, root[0] ? 0 : inode);
	free(file);
	if (fd < 0)
		return 0;
	if (root[0] || (!fstat(fd, &st) &&
			(uint64_t)st.st_mtim.tv_sec >= not_before_ns / 1000000000))
		r = tell(s, fd, path);
	close(fd);
	return r;
}

static bool is_kept(const struct source_image *at, int32_t pid)
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
	const struct search s = { request, fn, ctx };
	bool any = false;
	int r = 0;

	for (size_t i = 0; !r && i < at->dict->images.nr; i++) {
		const struct image *image = &at->dict->images.at[i];
		char path[PATH_BYTES];

		if (image->kind != IMAGE_ANON || image->pid <= 0)
			continue;
		any = true;
		if (is_kept(at, image->pid))
			continue;
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", image->pid);
		r = look(&s, path, 0, at->info->start_wall_ns);
	}
	*ret_any = any;
	return r;
}

/* ---- jitdump files, in the mappings of a perf.data ---- */

static int know_events(struct decoder *d, const struct perf_input_info *from)
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

static int look_at(const struct search *s, const struct decoder *d, const void *record,
		   size_t len)
{
	struct record rec;

	if (decoder_record(d, record, len, &rec, NULL) ||
	    (rec.type != PERF_RECORD_MMAP && rec.type != PERF_RECORD_MMAP2) ||
	    !jit_dump_name(rec.mmap.path))
		return 0;
	return look(s, rec.mmap.path, rec.mmap.ino, 0);
}

static int look_through(const struct search *s, const struct decoder *d,
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
			r = look_at(s, d, chunk->bytes + pos, h.size);
		pos += h.size;
	}
	return r;
}

int archive_jit_dumps(const struct archive_request *request, const char *path,
		      archive_jit_fn fn, void *ctx, struct err *err)
{
	const struct search s = { request, fn, ctx };
	struct perf_chunk chunk;
	struct perf_input *in;
	struct decoder d;
	int r = perf_input_open(path, &in, err);

	if (r)
		return r;
	decoder_init(&d, perf_input_info(in)->swap);
	r = know_events(&d, perf_input_info(in));
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
