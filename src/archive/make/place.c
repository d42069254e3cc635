/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "archive/make/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/make/collect.h"
#include "archive/make/out.h"
#include "archive/make/plan.h"
#include "base/array.h"
#include "base/files/io.h"
#include "base/files/path.h"
#include "base/log.h"
#include "format/archive/layout.h"
#include "format/archive/manifest.h"
#include "recordings/images.h"
#include "resolve/elf/build_id.h"
#include "resolve/find/debug_cache.h"
#include "resolve/symbolize/naming.h"

enum {
	HEX_BYTES = 2 * BUILD_ID_MAX + 1
};

/* A file, and how it was found. */
struct place_file {
	const char *path;
	bool is_live; /* seen through a running process: in another root directory, or deleted */
};

/* Returns the destination of a file, or NULL if it is already archived or has no destination. */
typedef char *(*place_fn)(const struct archive_request *, const struct source_image *,
			  const struct place_file *);

static char *archive_place_join(const char *dir, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

/* Returns .debug/.build-id/XX/REST/PART (malloc'd), where readers find the file as in perf's
 * cache. */
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

const struct build_id *archive_kernel_id(const struct source_image *at)
{
	for (size_t i = 0; i < at->dict->images.nr; i++) {
		const struct image *image = &at->dict->images.at[i];

		if (image->kind == IMAGE_KERNEL && image->build_id.len)
			return &image->build_id;
	}
	return &at->info->kernel_build_id;
}

static bool archive_place_is_free(const struct archive_request *q, const char *name,
				  const char *path)
{
	struct stat st;
	const struct stat *known = io_stat(path, &st) ? NULL : &st;

	return (!q->out || !archive_out_conflicts(q->out, name, known)) &&
	       !archive_plan_conflicts(q->plan, name, known);
}

/* Returns whether the file may be stored under its recorded path. A process in another root
 * directory can give its files any path. Such a file is stored under its path only if it has no
 * build-id and no file of this machine has this path, so that readers cannot mistake it for
 * another file. */
static bool may_have_path(const struct source_image *at, const struct place_file *file,
			  const char *path)
{
	struct stat st;

	return !file->is_live ||
	       (!at->image->build_id.len && io_stat(path, &st) == -ENOENT);
}

/* Returns whether the build-id is that of the kernel or of one of its modules. A program could
 * have such a build-id on purpose, to replace the kernel's file in the cache. */
static bool is_id_of_kernel(const struct source_image *at, const struct build_id *id)
{
	if (build_id_equal(id, archive_kernel_id(at)))
		return true;
	for (size_t i = 0; i < at->dict->images.nr; i++) {
		const struct image *image = &at->dict->images.at[i];

		if ((image->kind == IMAGE_KERNEL || image->kind == IMAGE_MODULE) &&
		    build_id_equal(id, &image->build_id))
			return true;
	}
	return false;
}

/* Places a binary at its path, as in OProfile's archives. Places it by its build-id if its name is
 * not a path, if readers use that path for another purpose, or if another file has it. */
static char *place_binary(const struct archive_request *q,
			  const struct source_image *at, const struct place_file *file)
{
	const char *name = dict_str(at->dict, at->image->name);
	const struct build_id *id = &at->image->build_id;

	if (at->image->kind == IMAGE_FILE && name[0] == '/' &&
	    archive_name_ok(name + 1) &&
	    archive_name_use(name + 1) == ARCHIVE_NAME_PLAIN &&
	    may_have_path(at, file, name) &&
	    archive_place_is_free(q, name + 1, file->path))
		return strdup(name + 1);
	if (at->image->kind == IMAGE_FILE && is_id_of_kernel(at, id))
		return NULL;
	return by_id(id, at->image->kind == IMAGE_VDSO ? "vdso" : "elf");
}

static char *place_cached(const struct archive_request *q,
			  const struct source_image *at, const struct place_file *file)
{
	struct build_id id = at->image->build_id;

	if (strcmp(path_base(file->path), "debug") != 0)
		return place_binary(q, at, file);
	if (!id.len)
		(void)elf_build_id(file->path, &id, NULL);
	return by_id(&id, "debug");
}

static char *place_found(const struct archive_request *q, const struct source_image *at,
			 const struct place_file *file)
{
	char *name;

	if (at->image->kind != IMAGE_MODULE)
		return place_binary(q, at, file);
	name = archive_place_join(ARCHIVE_MODULES, path_base(file->path));
	if (!name || archive_place_is_free(q, name, file->path))
		return name;
	free(name);
	return by_id(&at->image->build_id, "elf");
}

/* Places a debug file or a kernel at its path, relative to the root directory of the search. */
static char *place_below_root(const struct archive_request *q,
			      const struct source_image *at,
			      const struct place_file *file)
{
	const char *path = file->path;
	const char *root = q->locations.archive ? q->locations.archive
			   : q->locations.root  ? q->locations.root
						: "";
	size_t len = strlen(root);

	(void)at;
	if (!strncmp(path, root, len))
		path += len;
	while (*path == '/')
		path++;
	switch (archive_name_use(path)) {
	case ARCHIVE_NAME_PLAIN:
	case ARCHIVE_NAME_DEBUG:
		return strdup(path);
	case ARCHIVE_NAME_JIT:
	case ARCHIVE_NAME_OWN:
	default:
		return NULL;
	}
}

/* Returns the name for a kallsyms file, or NULL if the file belongs to the session, which is
 * archived as a whole. */
static char *place_kallsyms(const struct archive_request *q,
			    const struct source_image *at,
			    const struct place_file *file)
{
	const struct build_id *id = archive_kernel_id(at);
	const char *path = file->path;
	size_t len = strlen(at->session_dir);
	char hex[HEX_BYTES];
	char *name;

	(void)q;
	if (len && !strncmp(path, at->session_dir, len) && path[len] == '/')
		return NULL;
	if (id->len < 2) {
		log_say(LOG_WARNING,
			"the recording does not contain the build-id of its kernel: "
			"the kernel's symbols are not archived");
		return NULL;
	}
	build_id_to_hex(id, hex);
	return asprintf(&name, ARCHIVE_CACHE "/[kernel.kallsyms]/%s/kallsyms", hex) < 0
		       ? NULL
		       : name;
}

static char *place_vmlinux(const struct archive_request *q,
			   const struct source_image *at, const struct place_file *file)
{
	(void)q;
	(void)at;
	(void)file;
	return strdup(ARCHIVE_VMLINUX);
}

static char *place_cached_kernel(const struct archive_request *q,
				 const struct source_image *at,
				 const struct place_file *file)
{
	(void)q;
	(void)file;
	return by_id(archive_kernel_id(at), "elf");
}

static bool is_fetched_debug_file(const char *path)
{
	return !strcmp(path_base(path), "debuginfo");
}

/* Places a file that came from a debuginfod server. */
static char *place_fetched(const struct archive_request *q,
			   const struct source_image *at, const struct place_file *file)
{
	struct build_id id = at->image->build_id;

	if (at->image->kind == IMAGE_KERNEL)
		return place_cached_kernel(q, at, file);
	if (!is_fetched_debug_file(file->path))
		return place_binary(q, at, file);
	if (!id.len)
		(void)elf_build_id(file->path, &id, NULL);
	return by_id(&id, "debug");
}

static const struct {
	const char *step;
	place_fn place;
} steps[] = {
	{ NAMING_STEP_RECORDED, place_binary },
	{ NAMING_STEP_INDEX, place_found },
	{ NAMING_STEP_CACHE, place_cached },
	{ NAMING_STEP_LIVE, place_binary },
	{ NAMING_STEP_DEBUG_ID, place_below_root },
	{ NAMING_STEP_DEBUG_LINK, place_below_root },
	{ NAMING_STEP_KERNEL, place_below_root },
	{ NAMING_STEP_KALLSYMS, place_kallsyms },
	{ NAMING_STEP_VMLINUX, place_vmlinux },
	{ NAMING_STEP_CACHED_KERNEL, place_cached_kernel },
	{ NAMING_STEP_DEBUGINFOD, place_fetched },
};

bool archive_taken_debug(const struct source_image *at, const struct archive_taken *t)
{
	if (at->image->kind == IMAGE_KERNEL)
		return false;
	return !strcmp(t->step, NAMING_STEP_DEBUG_ID) ||
	       !strcmp(t->step, NAMING_STEP_DEBUG_LINK) ||
	       (!strcmp(t->step, NAMING_STEP_DEBUGINFOD) &&
		is_fetched_debug_file(t->path)) ||
	       (!strcmp(t->step, NAMING_STEP_CACHE) &&
		!strcmp(path_base(t->path), "debug"));
}

enum archive_placed archive_place(const struct archive_request *q,
				  const struct source_image *at,
				  const struct archive_taken *t, char **ret_name)
{
	const struct place_file file = { t->path, !strcmp(t->step, NAMING_STEP_LIVE) };

	for (size_t i = 0; i < COUNT_OF(steps); i++) {
		if (strcmp(steps[i].step, t->step) != 0)
			continue;
		*ret_name = steps[i].place(q, at, &file);
		if (*ret_name)
			return ARCHIVE_PLACED;
		return steps[i].place == place_kallsyms ? ARCHIVE_PLACED_ELSEWHERE
							: ARCHIVE_PLACED_NOWHERE;
	}
	return ARCHIVE_PLACED_ELSEWHERE;
}

/* ---- layout of perf archive ---- */

static enum debug_cache_part archive_place_part_of(const struct source_image *at,
						   const struct archive_taken *t)
{
	if (archive_taken_debug(at, t))
		return DEBUG_CACHE_DEBUG;
	if (!strcmp(t->step, NAMING_STEP_KALLSYMS))
		return DEBUG_CACHE_KALLSYMS;
	return at->image->kind == IMAGE_VDSO ? DEBUG_CACHE_VDSO : DEBUG_CACHE_ELF;
}

/* Returns the NAME of NAME/BUILDID/elf in perf's layout. All files with a build-id have the same
 * name, because there is one link for the build-id. */
static const char *archive_place_perf_name(const struct source_image *at)
{
	if (at->image->kind == IMAGE_KERNEL)
		return "[kernel.kallsyms]";
	if (at->image->kind == IMAGE_VDSO)
		return "[vdso]";
	return at->name[0] == '/' ? at->name + 1 : at->name;
}

static struct build_id perf_id(const struct source_image *at,
			       const struct archive_taken *t)
{
	struct build_id id = at->image->kind == IMAGE_KERNEL ? *archive_kernel_id(at)
							     : at->image->build_id;

	if (!id.len)
		(void)elf_build_id(t->path, &id, NULL);
	return id;
}

/* Returns whether perf's cache uses the name for other files. */
static bool is_perf_own(const char *name)
{
	static const char links[] = ".build-id";
	size_t len = sizeof(links) - 1;

	return name[0] == '[' ||
	       (!strncmp(name, links, len) && (!name[len] || name[len] == '/'));
}

struct archive_perf_place archive_place_perf(const struct source_image *at,
					     const struct archive_taken *t)
{
	struct archive_perf_place p = { 0 };
	struct build_id id = perf_id(at, t);
	const char *name = archive_place_perf_name(at);
	char hex[HEX_BYTES];

	/* Do not place kallsyms for a module: its symbols are in its file. */
	if (id.len < 2 || !archive_name_ok(name) ||
	    (at->image->kind == IMAGE_MODULE && !strcmp(t->step, NAMING_STEP_KALLSYMS)))
		return p;
	p.is_reserved = at->image->kind == IMAGE_FILE &&
			(is_perf_own(name) || is_id_of_kernel(at, &id));
	if (p.is_reserved)
		return p;
	build_id_to_hex(&id, hex);
	if (asprintf(&p.name, "%s/%s/%s", name, hex,
		     debug_cache_part_file(archive_place_part_of(at, t))) < 0)
		p.name = NULL;
	if (asprintf(&p.link, ".build-id/%.2s/%s", hex, hex + 2) < 0)
		p.link = NULL;
	if (asprintf(&p.target, "../../%s/%s", name, hex) < 0)
		p.target = NULL;
	return p;
}

void archive_perf_place_done(struct archive_perf_place *p)
{
	free(p->name);
	free(p->link);
	free(p->target);
}
