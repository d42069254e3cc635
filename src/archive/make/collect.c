/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "archive/make/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/make/hits.h"
#include "archive/make/jit.h"
#include "archive/make/out.h"
#include "archive/make/place.h"
#include "archive/make/plan.h"
#include "archive/make/selected.h"
#include "archive/make/sessions.h"
#include "archive/make/source_files.h"
#include "archive/make/taken.h"
#include "base/containers/hash.h"
#include "base/containers/map.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/files/public_file.h"
#include "base/log.h"
#include "format/archive/layout.h"
#include "format/archive/manifest.h"
#include "format/archive/pack.h"
#include "recordings/debug_dir.h"
#include "recordings/images.h"
#include "recordings/no_match.h"
#include "resolve/elf/build_id.h"
#include "resolve/elf/file.h"
#include "resolve/elf/unpacked.h"
#include "resolve/find/debug_cache.h"
#include "resolve/lines/lines.h"
#include "resolve/symbolize/lines.h"
#include "resolve/symbolize/naming.h"
#include "resolve/symbols/symtab.h"

enum {
	HEX_BYTES = 2 * BUILD_ID_MAX + 1,
	PAGE_BYTES = 4096
};

struct collect {
	const struct archive_request *request;
	struct err *err;
	struct naming_locations *locations;
	/* The following are for the segment or file number `part` of the recordings: */
	struct naming *naming;
	struct archive_hits *hits;
	unsigned int part;
	VEC(struct archive_taken) taken; /* files found by the current search */
	size_t nr_images,
		nr_wanted; /* number of images with hits, and of selected ones */
	bool is_hollow; /* the search found a file that is nearly all holes; it is left out */
	bool is_incomplete; /* a file was left out, which a warning reported */
	bool no_memory;
	/* Some process has hits in JIT-compiled code, whose files can be found here. */
	bool any_jit;
	struct map listed;
	struct archive_selected *selected; /* NULL: all samples are archived */
	struct spec left_out; /* filter for the images of the selected samples */
	struct archive_source_files *source_files; /* NULL: not requested */
};

static bool is_hollow(const char *path)
{
	int fd = elf_open_regular(path);
	bool hollow = fd >= 0 && io_is_hollow(fd);

	if (fd >= 0)
		close(fd);
	return hollow;
}

static void archive_collect_tried(void *ctx, const char *step, const char *path,
				  enum naming_status outcome)
{
	struct collect *c = ctx;
	struct archive_taken t = { .step = step, .proven = outcome == NAMING_OK };

	if (!path || (outcome != NAMING_OK && outcome != NAMING_UNVERIFIED))
		return;
	c->is_hollow |= is_hollow(path);
	t.path = strdup(path);
	if (!t.path || !vec_push(&c->taken, t)) {
		free(t.path);
		c->no_memory = true;
	}
}

static void forget_taken(struct collect *c)
{
	for (size_t i = 0; i < c->taken.nr; i++)
		free(c->taken.at[i].path);
	c->taken.nr = 0;
	c->is_hollow = false;
}

static int list_once(struct collect *c, const char *path)
{
	struct map_slot *slot;
	bool is_new;

	slot = map_at(&c->listed, hash_bytes(path, strlen(path), 0), 0, &is_new);
	if (!slot)
		return err_set(c->err, -ENOMEM, "out of memory");
	slot->value_plus_1 = 1;
	if (is_new)
		c->request->list(path);
	return 0;
}

static int archive_collect_said(struct collect *c, int r, const char *from)
{
	if (r == ARCHIVE_OUT_NAME)
		log_say(LOG_WARNING,
			"%s is not archived: its path would escape the archive", from);
	c->is_incomplete |= r == ARCHIVE_OUT_NAME || r == ARCHIVE_OUT_TAKEN;
	return r < 0 ? r : 0;
}

static int leave_reserved(struct collect *c, const char *name)
{
	log_say(LOG_WARNING,
		"%s is not archived: archives reserve its path or build-id for another file",
		name);
	c->is_incomplete = true;
	return 0;
}

/* Copies (or lists) the file immediately, because it might be removed soon. */
static int archive_collect_add(struct collect *c, const char *from, const char *name)
{
	return archive_collect_said(
		c,
		c->request->out ? archive_out_add(c->request->out, from, name, c->err)
				: list_once(c, from),
		from);
}

/* Plans the file; it is written at the end, together with the others. */
static int plan(struct collect *c, const struct archive_planned *file, const char *name)
{
	return archive_collect_said(
		c,
		c->request->out ? archive_plan_add(c->request->plan, file, name, c->err)
				: list_once(c, file->from),
		file->from);
}

/* ---- the files of a binary ---- */

/* Returns the file that source lines are read from, or NULL. */
static const char *archive_collect_binary_of(const struct collect *c,
					     const struct source_image *at)
{
	for (size_t i = 0; i < c->taken.nr; i++)
		if (c->taken.at[i].proven && !archive_taken_debug(at, &c->taken.at[i]))
			return c->taken.at[i].path;
	return NULL;
}

/* Opens a file that the search found. Returns false if it must not be archived. */
static bool open_taken(const struct collect *c, const struct source_image *at,
		       const struct archive_taken *t, struct archive_opened *ret_file)
{
	return archive_taken_open(c->request, at, t, archive_collect_binary_of(c, at),
				  ret_file);
}

/* Adds the kernel's symbols of a session, which stores them compressed, as an uncompressed file,
 * because perf cannot read compressed ones. Returns 0, or a negative errno with a message in
 * *c->err. */
static int add_unpacked(struct collect *c, const struct archive_opened *from,
			const char *name)
{
	struct buf packed = { 0 }, text = { 0 };
	struct archive_bytes bytes = { .is_private =
					       !public_file(from->fd, from->path) };
	int r = io_read_fd(from->fd, &packed, UNPACKED_PACKED_MAX);

	if (!r)
		r = unpacked_zstd(&packed, UNPACKED_MAX_BYTES, &text);
	bytes.bytes = text.data;
	bytes.len = text.len;
	if (r)
		r = err_sys(c->err, r, "cannot archive '%s'", from->path);
	else
		r = archive_collect_said(
			c, archive_out_add_bytes(c->request->out, &bytes, name, c->err),
			from->path);
	buf_done(&packed);
	buf_done(&text);
	return r;
}

/* Copies an open file immediately, because it might be removed soon. */
static int add_opened(struct collect *c, const struct archive_opened *from,
		      const char *name)
{
	const struct archive_open file = { .fd = from->fd, .from = from->path };

	return archive_collect_said(
		c,
		c->request->out
			? archive_out_add_open(c->request->out, &file, name, c->err)
			: list_once(c, from->path),
		from->path);
}

static int add_plain(struct collect *c, const struct archive_opened *from,
		     const char *name)
{
	return c->request->out && packing_of_name(from->path) == PACKING_ZSTD
		       ? add_unpacked(c, from, name)
		       : add_opened(c, from, name);
}

static int add_for_perf(struct collect *c, const struct source_image *at,
			const struct archive_taken *t)
{
	struct archive_perf_place p = archive_place_perf(at, t);
	struct archive_opened file;
	int r = 0;

	if (p.is_reserved)
		return leave_reserved(c, at->name);
	if (!p.name || !p.link || !p.target || !open_taken(c, at, t, &file)) {
		archive_perf_place_done(&p);
		return 0;
	}
	r = add_plain(c, &file, p.name);
	close(file.fd);
	if (!r && c->request->out && archive_out_has(c->request->out, p.name))
		r = archive_out_link(c->request->out, p.link, p.target, c->err);
	archive_perf_place_done(&p);
	return r;
}

/* For `perf archive`, adds the file of a module, as perf does. Our archives use kallsyms for names
 * in modules. */
static int add_module_for_perf(struct collect *c, const struct source_image *at)
{
	const struct location_options *locations = &c->request->locations;
	struct archive_taken t = { .step = NAMING_STEP_CACHE, .proven = true };
	char *cache = locations->archive ? NULL : debug_dir();
	struct build_id id;
	int fd, r = 0;

	if (cache && !debug_cache_open(cache, &at->image->build_id, DEBUG_CACHE_ELF,
				       at->name, &fd, &t.path))
		close(fd);
	else if (!locations->archive && !locations->root &&
		 !elf_build_id(at->name, &id, NULL) &&
		 build_id_equal(&id, &at->image->build_id))
		t.path = strdup(at->name);
	if (t.path)
		r = add_for_perf(c, at, &t);
	free(t.path);
	free(cache);
	return r;
}

/* Returns the range of the function at an offset, or of the page if there is no symbol. */
static struct elf_span code_around(struct collect *c, const struct source_image *at,
				   uint64_t offset)
{
	const struct symbol *s = naming_find(c->naming, at->number, offset, NULL);
	uint64_t page = offset & ~(uint64_t)(PAGE_BYTES - 1);

	if (s && offset >= s->offset && offset - s->offset < s->size)
		return (struct elf_span){ s->offset, s->offset + s->size };
	return (struct elf_span){ page, page + PAGE_BYTES };
}

/* Collects the ranges of code that listings show for the functions with hits. */
static int code_of_hits(struct collect *c, const struct source_image *at,
			elf_spans *ret_code)
{
	archive_offsets hits = { 0 };
	struct elf_span last = { 0 };
	int r = archive_hits_of(c->hits, at->number, &hits);

	for (size_t i = 0; !r && i < hits.nr; i++) {
		if (hits.at[i] >= last.offset && hits.at[i] < last.end)
			continue;
		last = code_around(c, at, hits.at[i]);
		if (!vec_push(ret_code, last))
			r = -ENOMEM;
	}
	vec_done(&hits);
	return r;
}

/* Adds a file that the search found. Copies it immediately if it is seen through a running
 * process. */
static int archive_collect_add_file(struct collect *c, const struct source_image *at,
				    const struct archive_taken *t, const char *name)
{
	elf_spans code = { 0 };
	struct archive_opened file;
	bool parts = !c->request->whole_binaries && c->request->out &&
		     at->image->kind == IMAGE_FILE && !archive_taken_debug(at, t);
	const struct archive_planned planned = { .from = t->path,
						 .keep = parts ? &code : NULL,
						 .was = &file.st };
	int r;

	if (!open_taken(c, at, t, &file))
		return 0;
	r = parts ? code_of_hits(c, at, &code) : 0;
	if (r)
		r = err_set(c->err, r, "out of memory");
	else if (!strcmp(t->step, NAMING_STEP_LIVE))
		r = add_opened(c, &file, name);
	else
		r = plan(c, &planned, name);
	close(file.fd);
	vec_done(&code);
	return r;
}

static int add_taken(struct collect *c, const struct source_image *at,
		     const struct archive_taken *t)
{
	char *name;
	int r;

	if (c->request->no_debug_files && archive_taken_debug(at, t))
		return 0;
	if (c->request->for_perf)
		return add_for_perf(c, at, t);
	switch (archive_place(c->request, at, t, &name)) {
	case ARCHIVE_PLACED_NOWHERE:
		return leave_reserved(c, t->path);
	case ARCHIVE_PLACED:
		r = archive_collect_add_file(c, at, t, name);
		free(name);
		return r;
	case ARCHIVE_PLACED_ELSEWHERE:
	default:
		return 0;
	}
}

static int add_source_files(struct collect *c, const struct source_image *at,
			    struct naming_lines *lines)
{
	const struct symtab *tab = naming_symtab(c->naming, at->number);
	const struct archive_source_binary binary = {
		.path = archive_collect_binary_of(c, at),
		.local = naming_is_local(c->naming),
	};
	archive_offsets hits = { 0 };
	int r = tab ? archive_hits_of(c->hits, at->number, &hits) : 0;

	for (size_t i = 0; i < hits.nr; i++)
		hits.at[i] = symtab_vaddr(tab, hits.at[i]).v;
	if (r)
		r = err_set(c->err, r, "out of memory");
	else
		r = archive_source_files_add(c->source_files, lines, hits.at, hits.nr,
					     &binary, c->err);
	vec_done(&hits);
	return r;
}

/* Adds the file from which reports read source lines, if it differs from the file with the
 * symbols. For the kernel it does, because its symbols come from kallsyms. */
static int archive_collect_add_lines(struct collect *c, const struct source_image *at)
{
	const struct archive_request *q = c->request;
	const struct lines_options options = { .cache_dir = q->index_cache };
	bool kernel = at->image->kind == IMAGE_KERNEL && !q->no_debug_files;
	struct naming_lines *lines = NULL;
	size_t nr_taken = c->taken.nr;
	int r;

	if (q->for_perf || (!kernel && !c->source_files))
		return 0;
	r = naming_lines_open(c->naming, at->number, &options, &lines);
	if (r)
		return err_set(c->err, r, "out of memory");
	for (size_t i = nr_taken; !r && kernel && i < c->taken.nr; i++)
		r = add_taken(c, at, &c->taken.at[i]);
	if (!r && lines && c->source_files)
		r = add_source_files(c, at, lines);
	naming_lines_close(lines);
	return r;
}

/* Returns whether the specification could select the image for some program of the recording.
 * Only the samples would show which programs really used it. */
static bool archive_collect_is_wanted(const struct collect *c,
				      const struct source_image *at)
{
	const struct archive_request *q = c->request;
	bool kernel =
		at->image->kind == IMAGE_KERNEL || at->image->kind == IMAGE_MODULE;
	bool main_program = false, wanted = false, top;
	const struct image_names names = {
		.names = { at->name, dict_str(at->dict, at->image->name) },
		.kernel = kernel
	};
	unsigned int bits = spec_image_bits(q->spec, &names);

	for (size_t i = 0; i < at->dict->threads.nr; i++) {
		uint32_t app = at->dict->threads.at[i].app;
		struct image_names of = { 0 };

		if (app >= at->dict->images.nr)
			continue;
		main_program |= app == at->number;
		of.names[0] = dict_str(at->dict, at->dict->images.at[app].name);
		wanted |= spec_wants_image(q->spec, spec_image_bits(q->spec, &of), bits,
					   &top);
	}
	wanted |= spec_wants_image(q->spec, bits, bits, &top);
	return wanted && (!q->exclude_dependent || main_program || kernel);
}

static void forget_part(struct collect *c)
{
	naming_free(c->naming);
	archive_hits_free(c->hits);
	c->naming = NULL;
	c->hits = NULL;
}

/* Returns the symbolizer for the image's dict. It is kept for the next images, because all modules
 * need the same kernel symbols. */
static struct naming *naming_of(struct collect *c, const struct source_image *at)
{
	if (c->naming && c->part == at->part)
		return c->naming;
	forget_part(c);
	c->part = at->part;
	if (archive_hits_new(at->dict, &c->hits) ||
	    naming_new(at->dict, at->info, at->session_dir, &c->naming))
		return NULL;
	naming_use(c->naming, c->locations);
	if (!c->request->no_debug_files && !c->request->for_perf)
		naming_want_lines(c->naming);
	return c->naming;
}

static int add_jit(void *ctx, const char *from, const char *path)
{
	struct collect *c = ctx;

	if (!c->request->out) {
		c->request->list(path);
		return 0;
	}
	/* Processes choose the path of a jitdump file. */
	if (path[0] != '/' || !archive_name_ok(path + 1) ||
	    archive_name_use(path + 1) != ARCHIVE_NAME_JIT)
		return leave_reserved(ctx, path);
	return archive_collect_add(ctx, from, path + 1);
}

/* Finds the perf maps of JIT compilers; called once per recording. */
static int collect_maps(struct collect *c, const struct source_image *at)
{
	const struct location_options *locations = &c->request->locations;
	bool any = false;
	int r;

	if (c->request->for_perf ||
	    !(naming_is_local(c->naming) || locations->root || locations->archive))
		return 0;
	r = archive_jit_maps(c->request, at, add_jit, c, &any);
	c->any_jit |= any;
	return r;
}

/* Finds the jitdump files. Samples do not refer to them, so this reads the mappings of the
 * perf.data files again. */
static int collect_dumps(struct collect *c)
{
	const struct report_sources *sources = c->request->sources;
	int r = 0;

	for (size_t i = 0; !r && c->any_jit && i < sources->sessions.nr; i++)
		if (sources->sessions.at[i].perf_data)
			r = archive_jit_dumps(c->request, &sources->sessions.at[i],
					      add_jit, c, c->err);
	return r;
}

static int collect_image(void *ctx, const struct source_image *at)
{
	struct collect *c = ctx;
	bool is_new = !c->naming || c->part != at->part;
	struct naming *n;
	char hex[HEX_BYTES];
	bool found;
	int r = 0;

	n = naming_of(c, at);
	if (!n)
		return -ENOMEM;
	if (is_new)
		r = collect_maps(c, at);
	if (r)
		return r;
	c->nr_images++;
	if (!archive_collect_is_wanted(c, at))
		return 0;
	c->nr_wanted++;
	forget_taken(c);
	found = naming_symtab(n, at->number);
	if (c->no_memory)
		return -ENOMEM;
	found |= c->taken.nr != 0;
	for (size_t i = 0; !r && i < c->taken.nr; i++)
		r = add_taken(c, at, &c->taken.at[i]);
	if (!r && c->request->for_perf && at->image->kind == IMAGE_MODULE)
		r = add_module_for_perf(c, at);
	if (!r)
		r = archive_collect_add_lines(c, at);
	build_id_to_hex(&at->image->build_id, hex);
	if (!r && c->request->out)
		r = archive_out_image(c->request->out, hex, found && !c->is_hollow,
				      at->name, c->err);
	return r;
}

static int add_of_session(void *ctx, const char *from, const char *name,
			  bool is_recording)
{
	struct collect *c = ctx;
	const struct archive_planned file = { .from = from,
					      .grows = true,
					      .is_needed = is_recording };
	char *origin;
	int r;

	if (c->request->out || !c->selected)
		return plan(c, &file, name);
	origin = archive_selected_origin(c->selected, from);
	r = origin ? list_once(c, origin) : err_set(c->err, -ENOMEM, "out of memory");
	free(origin);
	return r;
}

/* Checks that the specification selects some image, unless there are no images at all because the
 * recording has no samples. Returns 0, or a negative errno with a message in *c->err. */
static int archive_collect_check_found(const struct collect *c)
{
	if (c->nr_wanted || !c->nr_images)
		return 0;
	return no_match_error(c->request->sources, c->request->spec, c->err);
}

static int collect_all(struct collect *c)
{
	const struct naming_trace trace = { .tried = archive_collect_tried, .ctx = c };
	struct location_options locations = c->request->locations;
	int r, incomplete;

	locations.trace = &trace;
	r = locations_make(&locations, &c->locations, c->err);
	if (!r && c->request->source_files)
		r = archive_source_files_new(c->request, &c->source_files, c->err);
	if (!r && !c->request->for_perf)
		r = archive_sessions(c->request->sources, add_of_session, c, c->err);
	if (r)
		return r;
	incomplete = source_images_walk(c->request->sources, collect_image, c, c->err);
	r = incomplete < 0 ? incomplete : archive_collect_check_found(c);
	if (!r)
		r = collect_dumps(c);
	if (r)
		incomplete = r;
	if (incomplete >= 0 && c->source_files) {
		archive_source_files_report(c->source_files);
		c->is_incomplete |= archive_source_files_conflict(c->source_files);
	}
	if (incomplete >= 0 && c->request->out)
		r = archive_plan_write(c->request->plan, c->request->out, c->err);
	if (r < 0)
		incomplete = r;
	else if (r || c->is_incomplete)
		incomplete = incomplete < 0 ? incomplete : 1;
	/* Close the symbolizer, because it logs to the trace, which ends here. */
	forget_part(c);
	naming_locations_free(c->locations);
	c->locations = NULL;
	return incomplete;
}

/* Collects the files of the selected samples if the specification selects samples. Reports need
 * all images of these samples, also those of callers, so only images that the specification
 * excludes by name are omitted. */
static int collect_selected(struct collect *c, struct archive_request *own,
			    const struct archive_request *request)
{
	int incomplete = 0, r;

	if (archive_selected_needed(request)) {
		incomplete = archive_selected_new(request, &c->selected, c->err);
		if (incomplete < 0)
			return incomplete;
		own->sources = archive_selected_sources(c->selected);
		c->left_out.lists[SPEC_IMAGE_EXCLUDE] =
			request->spec->lists[SPEC_IMAGE_EXCLUDE];
		c->left_out.lists[SPEC_LIB_IMAGE_EXCLUDE] =
			request->spec->lists[SPEC_LIB_IMAGE_EXCLUDE];
		own->spec = &c->left_out;
	}
	r = collect_all(c);
	return r ? r : incomplete;
}

int archive_collect(const struct archive_request *request, struct err *err)
{
	struct archive_request own = *request;
	struct collect c = { .request = &own, .err = err };
	int r = archive_plan_new(&own.plan);

	r = r ? err_set(err, r, "out of memory") : collect_selected(&c, &own, request);
	forget_taken(&c);
	vec_done(&c.taken);
	map_done(&c.listed);
	archive_source_files_free(c.source_files);
	archive_plan_free(own.plan);
	forget_part(&c);
	naming_locations_free(c.locations);
	archive_selected_free(c.selected);
	return r;
}
