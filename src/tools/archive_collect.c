#include "tools/archive_collect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/map.h"
#include "format/archive_manifest.h"
#include "resolve/naming.h"
#include "resolve/symtab.h"
#include "tools/archive_open.h"
#include "tools/archive_out.h"
#include "tools/archive_sessions.h"
#include "tools/source_images.h"

enum {
	HEX_BYTES = 2 * BUILD_ID_MAX + 1
};

/* One file that the search took. */
struct taken {
	const char *step;
	char *path;
};

struct collect {
	const struct archive_request *request;
	struct err *err;
	struct naming_places *places;
	struct naming *naming; /* of part `part` */
	unsigned int part;
	VEC(struct taken) taken; /* by the search that goes on */
	bool no_memory;
	struct map listed;
};

/* Where a file goes; NULL: it is there already, or there is no place for it. */
typedef char *(*place_fn)(const struct collect *, const struct source_image *,
			  const char *path);

static char *join(const char *dir, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* .debug/.build-id/XX/REST/PART: found as in perf's cache, without its links. */
static char *by_id(const struct build_id *id, const char *part)
{
	char hex[HEX_BYTES];
	char *path;

	if (id->len < 2)
		return NULL;
	build_id_to_hex(id, hex);
	return asprintf(&path, ARCHIVE_CACHE "/.build-id/%.2s/%s/%s", hex, hex + 2,
			part) < 0
		       ? NULL
		       : path;
}

static const struct build_id *kernel_id(const struct source_image *at)
{
	for (size_t i = 0; i < at->dict->images.nr; i++) {
		const struct image *image = &at->dict->images.at[i];

		if (image->kind == IMAGE_KERNEL && image->build_id.len)
			return &image->build_id;
	}
	return &at->info->kernel_build_id;
}

/* A binary: at its path, where OProfile's archives have it; a second one of that path, or one
 * with a name that is no path, by its build-id. */
static char *place_binary(const struct collect *c, const struct source_image *at,
			  const char *path)
{
	const char *name = dict_str(at->dict, at->image->name);

	(void)path;
	if (at->image->kind == IMAGE_FILE && name[0] == '/' &&
	    archive_name_ok(name + 1) &&
	    (!c->request->out || !archive_out_has(c->request->out, name + 1)))
		return strdup(name + 1);
	return by_id(&at->image->build_id,
		     at->image->kind == IMAGE_VDSO ? "vdso" : "elf");
}

static char *place_cached(const struct collect *c, const struct source_image *at,
			  const char *path)
{
	struct build_id id = at->image->build_id;

	if (strcmp(base_name(path), "debug") != 0)
		return place_binary(c, at, path);
	if (!id.len)
		(void)elf_build_id(path, &id, NULL);
	return by_id(&id, "debug");
}

static char *place_found(const struct collect *c, const struct source_image *at,
			 const char *path)
{
	if (at->image->kind == IMAGE_MODULE)
		return join(ARCHIVE_MODULES, base_name(path));
	return place_binary(c, at, path);
}

/* Debug files and kernels have their paths below the root. */
static char *place_below_root(const struct collect *c, const struct source_image *at,
			      const char *path)
{
	const char *root = c->request->places.archive ? c->request->places.archive
			   : c->request->places.root  ? c->request->places.root
						      : "";
	size_t len = strlen(root);

	(void)at;
	if (!strncmp(path, root, len))
		path += len;
	while (*path == '/')
		path++;
	return strdup(path);
}

/* Those of the session come with it. */
static char *place_kallsyms(const struct collect *c, const struct source_image *at,
			    const char *path)
{
	const struct build_id *id = kernel_id(at);
	size_t len = strlen(at->session_dir);
	char hex[HEX_BYTES];
	char *name;

	(void)c;
	if (len && !strncmp(path, at->session_dir, len) && path[len] == '/')
		return NULL;
	if (id->len < 2) {
		log_say(LOG_WARNING,
			"the recording does not tell its kernel's build-id: the "
			"kernel's symbols are not archived");
		return NULL;
	}
	build_id_to_hex(id, hex);
	return asprintf(&name, ARCHIVE_CACHE "/[kernel.kallsyms]/%s/kallsyms", hex) < 0
		       ? NULL
		       : name;
}

static char *place_vmlinux(const struct collect *c, const struct source_image *at,
			   const char *path)
{
	(void)c;
	(void)at;
	(void)path;
	return strdup(ARCHIVE_VMLINUX);
}

static char *place_cached_kernel(const struct collect *c, const struct source_image *at,
				 const char *path)
{
	(void)c;
	(void)path;
	return by_id(kernel_id(at), "elf");
}

static const struct {
	const char *step;
	place_fn place;
} steps[] = {
	{ NAMING_STEP_RECORDED, place_binary },
	{ NAMING_STEP_INDEX, place_found },
	{ NAMING_STEP_CACHE, place_cached },
	{ NAMING_STEP_DEBUG_ID, place_below_root },
	{ NAMING_STEP_DEBUG_LINK, place_below_root },
	{ NAMING_STEP_KERNEL, place_below_root },
	{ NAMING_STEP_KALLSYMS, place_kallsyms },
	{ NAMING_STEP_VMLINUX, place_vmlinux },
	{ NAMING_STEP_CACHED_KERNEL, place_cached_kernel },
};

static void tried(void *ctx, const char *step, const char *path,
		  enum naming_status outcome)
{
	struct collect *c = ctx;
	struct taken t = { .step = step };

	if (!path || (outcome != NAMING_OK && outcome != NAMING_UNVERIFIED))
		return;
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

static int add(struct collect *c, const char *from, const char *name)
{
	int r = c->request->out ? archive_out_add(c->request->out, from, name, c->err)
				: list_once(c, from);

	if (r > 0)
		log_say(LOG_WARNING,
			"%s is not archived: its name does not stay in an archive",
			from);
	return r < 0 ? r : 0;
}

static bool is_debug_file(const struct taken *t)
{
	return !strcmp(t->step, NAMING_STEP_DEBUG_ID) ||
	       !strcmp(t->step, NAMING_STEP_DEBUG_LINK) ||
	       (!strcmp(t->step, NAMING_STEP_CACHE) &&
		!strcmp(base_name(t->path), "debug"));
}

static int add_taken(struct collect *c, const struct source_image *at,
		     const struct taken *t)
{
	if (c->request->no_debug_files && is_debug_file(t))
		return 0;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		char *name;
		int r;

		if (strcmp(steps[i].step, t->step) != 0)
			continue;
		name = steps[i].place(c, at, t->path);
		r = name ? add(c, t->path, name) : 0;
		free(name);
		return r;
	}
	return 0;
}

/* Whether a specification asks for the image, below any program of the recording: which of
 * them used it is not known without a look at the samples. */
static bool is_wanted(const struct collect *c, const struct source_image *at)
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

/* The naming of the image's dict, whose symbols of the kernel serve all modules. */
static struct naming *naming_of(struct collect *c, const struct source_image *at)
{
	if (c->naming && c->part == at->part)
		return c->naming;
	naming_free(c->naming);
	c->naming = NULL;
	c->part = at->part;
	if (naming_new(at->dict, at->info, at->session_dir, &c->naming))
		return NULL;
	naming_use(c->naming, c->places);
	return c->naming;
}

static int collect_image(void *ctx, const struct source_image *at)
{
	struct collect *c = ctx;
	struct naming *n;
	char hex[HEX_BYTES];
	bool found;
	int r = 0;

	if (!is_wanted(c, at))
		return 0;
	n = naming_of(c, at);
	forget_taken(c);
	found = n && naming_symtab(n, at->number);
	if (!n || c->no_memory)
		return -ENOMEM;
	found |= c->taken.nr != 0;
	for (size_t i = 0; !r && i < c->taken.nr; i++)
		r = add_taken(c, at, &c->taken.at[i]);
	build_id_to_hex(&at->image->build_id, hex);
	if (!r && c->request->out)
		r = archive_out_image(c->request->out, hex, found, at->name, c->err);
	return r;
}

static int add_of_session(void *ctx, const char *from, const char *name)
{
	return add(ctx, from, name);
}

static int collect_all(struct collect *c)
{
	const struct naming_trace trace = { .tried = tried, .ctx = c };
	struct places_options places = c->request->places;
	int r, incomplete;

	places.trace = &trace;
	r = places_make(&places, &c->places, c->err);
	if (!r)
		r = archive_sessions(c->request->sources, add_of_session, c, c->err);
	if (r)
		return r;
	incomplete = source_images_walk(c->request->sources, collect_image, c, c->err);
	/* The naming speaks to the trace, which ends here. */
	naming_free(c->naming);
	naming_places_free(c->places);
	c->naming = NULL;
	c->places = NULL;
	return incomplete;
}

int archive_collect(const struct archive_request *request, struct err *err)
{
	struct collect c = { .request = request, .err = err };
	int r = collect_all(&c);

	forget_taken(&c);
	vec_done(&c.taken);
	map_done(&c.listed);
	naming_free(c.naming);
	naming_places_free(c.places);
	return r;
}
