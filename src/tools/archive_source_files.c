#include "tools/archive_source_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/comma.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/map.h"
#include "base/vec.h"
#include "format/archive_manifest.h"
#include "resolve/hit_sources.h"
#include "tools/archive_collect.h"
#include "tools/archive_out.h"
#include "tools/source_images.h"

typedef VEC(char *) paths;
typedef VEC(uint64_t) offsets;

struct archive_source_files {
	const struct archive_request *request;
	paths search; /* --search-dirs */
	paths base;   /* --base-dirs */
	struct map seen;
	size_t nr_missing;
	/* Of the image at hand. */
	bool local;
	struct err *err;
};

static void paths_done(paths *p)
{
	for (size_t i = 0; i < p->nr; i++)
		free(p->at[i]);
	vec_done(p);
}

static int split(const char *list, paths *ret_paths, struct err *err)
{
	while (list) {
		char *path = comma_next(&list);

		if (!path || !vec_push(ret_paths, path)) {
			free(path);
			return err_set(err, -ENOMEM, "out of memory");
		}
	}
	return 0;
}

static int check_folders(const paths *folders, struct err *err)
{
	struct stat st;

	for (size_t i = 0; i < folders->nr; i++)
		if (stat(folders->at[i], &st) || !S_ISDIR(st.st_mode))
			return err_set(err, -EINVAL,
				       "--search-dirs: %s isn't a valid directory",
				       folders->at[i]);
	return 0;
}

int archive_source_files_new(const struct archive_request *request,
			     struct archive_source_files **ret_files, struct err *err)
{
	struct archive_source_files *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return err_set(err, -ENOMEM, "out of memory");
	f->request = request;
	r = split(request->search_dirs, &f->search, err);
	if (!r)
		r = split(request->base_dirs, &f->base, err);
	if (!r)
		r = check_folders(&f->search, err);
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
	paths_done(&f->search);
	paths_done(&f->base);
	map_done(&f->seen);
	free(f);
}

/* ---- one source ---- */

/* The absolute path, without "." and "..": as it is called in the archive.  malloc'd. */
static char *full_path(const char *path, const char *dir)
{
	char *joined, *out;
	size_t len = 0;

	if (asprintf(&joined, "%s/%s", path[0] == '/' ? "" : dir, path) < 0)
		return NULL;
	out = malloc(strlen(joined) + 2);
	for (const char *at = joined; out && *at;) {
		size_t part = strcspn(at, "/");

		if (part == 2 && !strncmp(at, "..", 2)) {
			while (len && out[--len] != '/')
				;
		} else if (part && (part != 1 || at[0] != '.')) {
			out[len++] = '/';
			memcpy(out + len, at, part);
			len += part;
		}
		at += part + (at[part] == '/');
	}
	if (out)
		out[len] = '\0';
	free(joined);
	return out;
}

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* DIR/PATH if there is such a file, malloc'd. */
static char *file_below(const char *dir, const char *path)
{
	char *file;

	if (asprintf(&file, "%s/%s", dir, path) < 0)
		return NULL;
	if (is_file(file))
		return file;
	free(file);
	return NULL;
}

/* What is behind one of the base folders; NULL: it is in none of them. */
static const char *behind(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	while (len && dir[len - 1] == '/')
		len--;
	return len && !strncmp(path, dir, len) && path[len] == '/' ? path + len + 1
								   : NULL;
}

/* Below the folders to search: the path without one of the base folders, without the folder
 * in which the compiler ran, and whole. */
static char *search(const struct archive_source_files *f, const char *path,
		    const char *dir)
{
	char *file = NULL;

	for (size_t i = 0; !file && i < f->search.nr; i++) {
		const char *rest = NULL;

		for (size_t k = 0; !file && k < f->base.nr; k++) {
			rest = behind(path, f->base.at[k]);
			if (rest)
				file = file_below(f->search.at[i], rest);
		}
		rest = behind(path, dir);
		if (!file && rest)
			file = file_below(f->search.at[i], rest);
		if (!file)
			file = file_below(f->search.at[i], path + 1);
	}
	return file;
}

static char *find(const struct archive_source_files *f, const char *path,
		  const char *dir)
{
	const struct places_options *places = &f->request->places;
	const char *root = places->archive ? places->archive : places->root;
	char *file = NULL;

	if (root)
		file = file_below(root, path + 1);
	else if (f->local && is_file(path))
		file = strdup(path);
	return file ? file : search(f, path, dir);
}

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
	char *full = full_path(path, dir), *file;
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
	file = find(f, full, dir);
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
