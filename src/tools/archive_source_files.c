#include "tools/archive_source_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/map.h"
#include "base/path.h"
#include "base/vec.h"
#include "format/archive_manifest.h"
#include "resolve/hit_sources.h"
#include "tools/archive_collect.h"
#include "tools/archive_out.h"
#include "tools/source_find.h"
#include "tools/source_images.h"

typedef VEC(uint64_t) offsets;

struct archive_source_files {
	const struct archive_request *request;
	struct source_find find;
	struct map seen;
	size_t nr_missing;
	/* Of the image at hand. */
	bool local;
	struct err *err;
};

int archive_source_files_new(const struct archive_request *request,
			     struct archive_source_files **ret_files, struct err *err)
{
	struct archive_source_files *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return err_set(err, -ENOMEM, "out of memory");
	f->request = request;
	r = source_find_init(
		&f->find,
		&(struct source_find_options){ .search_dirs = request->search_dirs,
					       .base_dirs = request->base_dirs,
					       .archive = request->places.archive,
					       .root = request->places.root },
		err);
	if (r) {
		archive_source_files_free(f);
		return r;
	}
	*ret_files = f;
	return 0;
}

void archive_source_files_free(struct archive_source_files *f)
{
	if (!f)
		return;
	source_find_done(&f->find);
	map_done(&f->seen);
	free(f);
}

/* ---- one source ---- */

static int put(struct archive_source_files *f, const char *path, const char *file)
{
	struct archive_out *out = f->request->out;
	int r = 0;

	if (!file) {
		log_say(f->nr_missing < 10 ? LOG_WARNING : LOG_DEBUG,
			"the source %s was not found", path);
		f->nr_missing++;
	} else if (out) {
		r = archive_out_add(out, file, path + 1, f->err);
	} else {
		f->request->list(file);
	}
	if (r > 0)
		return 0; /* no name for an archive */
	return r < 0 || !out ? r : archive_out_source(out, file != NULL, path, f->err);
}

static int take(void *ctx, const char *path, const char *dir)
{
	struct archive_source_files *f = ctx;
	char *full = path_full(path, dir), *file;
	struct map_slot *slot;
	bool is_new;
	int r;

	slot = full ? map_at(&f->seen, hash_bytes(full, strlen(full), 0), 0, &is_new)
		    : NULL;
	if (!slot) {
		free(full);
		return err_set(f->err, -ENOMEM, "out of memory");
	}
	slot->value_plus_1 = 1;
	/* "<artificial>", "<built-in>": made by the compiler. */
	if (!is_new || strchr(full, '<') || !archive_name_ok(full + (full[0] == '/'))) {
		free(full);
		return 0;
	}
	file = source_find(&f->find, full, dir, f->local);
	r = put(f, full, file);
	free(file);
	free(full);
	return r;
}

/* ---- the hits of an image ---- */

static int compare_offsets(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* A return address belongs to the call before it: that one is asked about, too. */
static int hits_of(const struct source_image *at, offsets *ret_hits)
{
	offsets hits = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < at->dict->frames.nr; i++) {
		const struct frame *frame = &at->dict->frames.at[i];

		if (frame->image != at->number)
			continue;
		if (!vec_push(&hits, frame->offset) ||
		    (frame->offset && !vec_push(&hits, frame->offset - 1))) {
			vec_done(&hits);
			return -ENOMEM;
		}
	}
	if (hits.nr)
		qsort(hits.at, hits.nr, sizeof(*hits.at), compare_offsets);
	for (size_t i = 0; i < hits.nr; i++)
		if (!nr || hits.at[nr - 1] != hits.at[i])
			hits.at[nr++] = hits.at[i];
	hits.nr = nr;
	*ret_hits = hits;
	return 0;
}

int archive_source_files_add(struct archive_source_files *f,
			     const struct source_image *at, const char *binary,
			     const char *debug, bool local, struct err *err)
{
	offsets hits;
	int r = hits_of(at, &hits);

	if (r)
		return err_set(err, r, "out of memory");
	f->local = local;
	f->err = err;
	r = hit_sources(binary, debug, hits.at, hits.nr, take, f);
	vec_done(&hits);
	if (r == -EBADMSG) /* damaged debug information: what there was is taken */
		return 0;
	return r && err && !err->text[0] ? err_sys(err, r, "%s", binary) : r;
}

void archive_source_files_tell(const struct archive_source_files *f)
{
	if (f->nr_missing)
		log_say(LOG_WARNING,
			"%zu sources were not found (--search-dirs says where they "
			"are)",
			f->nr_missing);
}
