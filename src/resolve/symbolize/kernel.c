/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernel.c - symbolizes the kernel and its modules with any available source. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/faults.h"
#include "format/session/checksums.h"
#include "resolve/elf/build_id.h"
#include "resolve/elf/file.h"
#include "resolve/find/binary.h"
#include "resolve/find/debug_cache.h"
#include "resolve/find/file_index.h"
#include "resolve/symbolize/locations.h"
#include "resolve/symbolize/priv.h"
#include "resolve/symbols/kallsyms.h"
#include "resolve/symbols/module_layout.h"
#include "resolve/symbols/module_list.h"

enum {
	MODULES_MAX_BYTES = 64 << 20
};

/* Returns whether a module's lines of kallsyms have the addresses of the recording. The lines in
 * the session always do. */
static bool is_in_place(const struct naming_kallsyms *k, const struct image *image,
			const struct kallsyms_part *part)
{
	if (k->same_boot)
		return true;
	return k->for_modules &&
	       kallsyms_fits(k->index.text + part->begin, part->end - part->begin,
			     image->start, image->end);
}

/* Returns the session's list of modules, read once; empty if not found. */
static const struct buf *naming_kernel_read_modules(struct naming *n)
{
	char *path;

	if (n->modules_read)
		return &n->modules;
	n->modules_read = true;
	if (!n->session_dir[0] || asprintf(&path, "%s/modules", n->session_dir) < 0)
		return &n->modules;
	if (checksums_read_file(path, &n->modules, MODULES_MAX_BYTES))
		buf_clear(&n->modules);
	free(path);
	return &n->modules;
}

/* Finds a module's line in the session's list; the caller calls module_line_done(). *ret_line is
 * empty if the list has no such module. Returns 0 or -ENOMEM. */
static int find_line(struct naming *n, const char *module, uint64_t start,
		     struct module_line *ret_line)
{
	const struct buf *list = naming_kernel_read_modules(n);
	int r;

	*ret_line = (struct module_line){ 0 };
	r = module_line_find((const char *)list->data, list->len, module, start,
			     ret_line);
	if (r)
		*ret_line = (struct module_line){ 0 };
	return r == -ENOMEM ? r : 0;
}

/* Loads the symbols of a part of kallsyms, if it has any. Returns 0 or -ENOMEM. */
static int load_part(struct naming *n, const struct kallsyms_part *part,
		     const char *module, uint64_t start, struct naming_entry *e)
{
	struct symtab_kallsyms from = { .text = n->kallsyms.index.text + part->begin,
					.len = part->end - part->begin,
					.module = module,
					.start = start };
	struct module_line line = { 0 };
	int r = module ? find_line(n, module, start, &line) : 0;

	if (r)
		return r;
	if (line.address == start) {
		from.sections = line.sections.at;
		from.nr_sections = line.sections.nr;
	}
	r = symtab_load_kallsyms(&from, &e->tab, NULL);
	module_line_done(&line);
	return r == -ENOMEM ? r : 0;
}

static int name_from_kallsyms(struct naming *n, const struct image *image,
			      const char *module, struct naming_entry *e)
{
	const struct naming_kallsyms *k = &n->kallsyms;
	const struct kallsyms_part *part;
	uint64_t start = image->start;
	int r = naming_kallsyms_read(n);

	if (r)
		return r;
	e->status = NAMING_NO_KALLSYMS;
	part = module ? kallsyms_part_at(&k->index, module, image->start, image->end)
		      : kallsyms_part(&k->index, NULL);
	if (part && module && !is_in_place(k, image, part)) {
		naming_tried(n, NAMING_STEP_KALLSYMS, k->path, NAMING_OTHER_FILE);
		return 0;
	}
	if (!part)
		return 0;
	/* If the kernel's base was hidden (start is 0), positions are addresses. */
	if (!module && start)
		start -= k->shift;
	r = load_part(n, part, module, start, e);
	if (r || !e->tab)
		return r;
	e->status = k->status;
	naming_tried(n, NAMING_STEP_KALLSYMS, k->path, e->status);
	naming_set_from(e, k->path);
	return 0;
}

/* Returns the path of the vmlinux specified by the user or by the recording, or "". */
static const char *naming_kernel_given_vmlinux(const struct naming *n)
{
	const char *given = naming_locations_vmlinux(n->locations);

	if (given[0] || naming_locations_archive(n->locations) || !n->info->vmlinux)
		return given;
	/* /proc/kallsyms is OProfile's name for a kernel whose symbols are those of this text. */
	return !strcmp(n->info->vmlinux, "/proc/kallsyms") ? "" : n->info->vmlinux;
}

int naming_load_vmlinux(struct naming *n, const struct image *image, int fd,
			struct naming_entry *e)
{
	const char *ref = dict_str(n->dict, image->ref_name);
	int r = -ENODATA;

	if (image->ref_address && image->start)
		r = symtab_load_kernel_fd(fd, ref, image->ref_address - image->start,
					  &e->tab, NULL);
	if (r && r != -ENOMEM)
		r = symtab_load_elf_fd(
			fd, image->start ? SYMTAB_FROM_TEXT : SYMTAB_ADDRESSES, &e->tab,
			NULL);
	e->status = r == -ENODATA ? NAMING_NO_SYMBOLS
		    : r           ? NAMING_UNREADABLE
				  : NAMING_OK;
	return r == -ENOMEM ? r : 0;
}

int naming_open_vmlinux(struct naming *n, const struct image *image, int *ret_fd,
			char **ret_path)
{
	const char *path = naming_kernel_given_vmlinux(n);
	const struct build_id *ran = naming_kernel_id(n, image);
	struct build_id id = { 0 };
	int fd = path[0] ? elf_open_regular(path) : -ENOENT;
	int r;

	if (fd < 0)
		return fd;
	r = elf_build_id_fd(fd, &id, NULL);
	if (r == -ENODATA || !ran->len)
		r = 0;
	else if (!r && !build_id_equal(&id, ran))
		r = -ESTALE;
	*ret_path = r ? NULL : strdup(path);
	if (!r && *ret_path) {
		*ret_fd = fd;
		return 0;
	}
	close(fd);
	return r ? r : -ENOMEM;
}

/* Loads the vmlinux that was specified, if it can be the recorded kernel. Otherwise sets a
 * status such as NAMING_OTHER_FILE, or NAMING_NO_FILE if none was specified. */
static int name_from_vmlinux(struct naming *n, const struct image *image,
			     struct naming_entry *e)
{
	const char *path = naming_kernel_given_vmlinux(n);
	const struct build_id *ran = naming_kernel_id(n, image);
	struct build_id id = { 0 };
	int fd;
	int r;

	e->status = NAMING_NO_FILE;
	if (!path[0])
		return 0;
	fd = elf_open_regular(path);
	if (fd < 0) {
		enum naming_status why = err_is_absent(fault_unreadable(path, fd))
						 ? NAMING_NO_FILE
						 : NAMING_UNREADABLE;

		naming_tried(n, NAMING_STEP_VMLINUX, path, why);
		naming_locations_warn(n->locations, path, why, false);
		return 0;
	}
	r = elf_build_id_fd(fd, &id, NULL);
	if (r == -EBADMSG) {
		e->status = NAMING_UNREADABLE;
	} else if (id.len && ran->len && !build_id_equal(&id, ran)) {
		e->status = NAMING_OTHER_FILE;
	} else {
		r = naming_load_vmlinux(n, image, fd, e);
		if (e->status == NAMING_OK && !(id.len && ran->len))
			e->status = NAMING_UNVERIFIED;
	}
	close(fd);
	if (e->tab)
		naming_set_from(e, path);
	naming_tried(n, NAMING_STEP_VMLINUX, path, e->status);
	naming_locations_warn(n->locations, path, e->status, false);
	return r == -ENOMEM ? r : 0;
}

/* Resets an entry to empty. */
static void naming_kernel_forget(struct naming_entry *e)
{
	symtab_free(e->tab);
	free(e->from);
	*e = (struct naming_entry){ 0 };
}

/* Loads a file that was verified by its build-id. Consumes `fd` and `path`. Returns 1 if it has
 * no symbols. */
static int name_from_proven(struct naming *n, const struct image *image, int fd,
			    char *path, struct naming_entry *e)
{
	int r = naming_load_vmlinux(n, image, fd, e);

	close(fd);
	if (!r && e->tab && symtab_count(e->tab)) {
		e->from = path;
		return 0;
	}
	free(path);
	naming_kernel_forget(e);
	return r ? r : 1;
}

/* Loads a vmlinux with the recorded build-id: from perf's cache, the directories of debug files,
 * those of installed kernels, or a debuginfod server. */
static int name_from_known_vmlinux(struct naming *n, const struct image *image,
				   struct naming_entry *e)
{
	const struct build_id *ran = naming_kernel_id(n, image);
	const char *release = n->info->os_release ? n->info->os_release : "";
	const struct binary_locations locations =
		naming_binary_locations(n, BINARY_HERE);
	char *path;
	int fd, r;

	if (!debug_cache_open(locations.debug_dir, ran, DEBUG_CACHE_ELF,
			      "[kernel.kallsyms]", &fd, &path)) {
		naming_tried(n, NAMING_STEP_CACHED_KERNEL, path, NAMING_OK);
		r = name_from_proven(n, image, fd, path, e);
		if (r <= 0)
			return r;
	}
	for (size_t i = 0;
	     !binary_find_vmlinux(&locations, ran, release, &i, &fd, &path);) {
		r = name_from_proven(n, image, fd, path, e);
		if (r <= 0)
			return r;
	}
	r = binary_fetch(&locations, ran, DEBUGINFOD_DEBUGINFO, &fd, &path);
	if (!r)
		r = name_from_proven(n, image, fd, path, e);
	return r == -ENOMEM ? r : 0;
}

int naming_kernel(struct naming *n, const struct image *image, struct naming_entry *e)
{
	int r = name_from_vmlinux(n, image, e);

	if (r || (e->tab && symtab_count(e->tab)))
		return r;
	naming_kernel_forget(e);
	r = name_from_kallsyms(n, image, NULL, e);
	if (!r && !e->tab)
		r = naming_given(n, image, e);
	if (!r && !e->tab)
		r = name_from_known_vmlinux(n, image, e);
	if (!r && !e->tab)
		e->status = NAMING_NO_KALLSYMS;
	return r;
}

/* Loads a module's file, with the section addresses in the session's list. */
static int load_ko_of_session(const struct image *image, const struct binary *b,
			      const struct module_line *line, struct naming_entry *e)
{
	int r = symtab_load_module_fd(b->fd, line->sections.at, line->sections.nr,
				      image->start ? image->start : line->address,
				      &e->tab, NULL);

	return r == -ENOMEM ? r : 0;
}

/* Loads a module's file if only the address of its code is known. */
static int load_ko(const struct image *image, const struct binary *b,
		   struct naming_entry *e)
{
	struct module_layout layout;
	int r;

	if (!image->start)
		return 0;
	r = module_layout_read(b->fd, image->start, &layout);
	if (!r) {
		r = symtab_load_module_fd(b->fd, layout.sections.at, layout.sections.nr,
					  image->start, &e->tab, NULL);
		module_layout_done(&layout);
	}
	return r == -ENOMEM ? r : 0;
}

/* Returns the index of the installed modules of the recorded kernel, and of their debug files. */
static const struct file_index *installed_modules(struct naming *n)
{
	static const char *const folders[] = { "/lib/modules",
					       "/usr/lib/debug/lib/modules" };
	const char *release = n->info->os_release ? n->info->os_release : "";
	char *paths[3] = { NULL };

	if (n->installed_modules_read)
		return n->installed_modules;
	n->installed_modules_read = true;
	if (!release[0] || strchr(release, '/') || release[0] == '.')
		return NULL;
	for (size_t i = 0; i < 2; i++)
		if (asprintf(&paths[i], "%s%s/%s", naming_locations_root(n->locations),
			     folders[i], release) < 0)
			paths[i] = NULL;
	if (paths[0] && paths[1])
		(void)file_index_new((const char *const *)paths, &n->installed_modules);
	free(paths[0]);
	free(paths[1]);
	return n->installed_modules;
}

/* Finds a module's file in one stage, and its line in the session's list (empty: none). Returns 0,
 * or -ENOMEM. The caller calls binary_close() and module_line_done() after 0. */
static int find_ko(struct naming *n, const struct image *image, const char *module,
		   enum binary_stage stage, struct binary *b, struct module_line *line)
{
	struct binary_locations locations = naming_binary_locations(n, stage);
	int r = find_line(n, module, image->start, line);

	if (r)
		return r;
	if (stage == BINARY_HERE)
		locations.modules = installed_modules(n);
	r = binary_find_module(&locations, module,
			       image->build_id.len ? &image->build_id : &line->build_id,
			       b);
	if (r)
		module_line_done(line);
	return r;
}

/* Loads a module's own file, if it can be found and the module's address is known. */
static int name_from_ko(struct naming *n, const struct image *image, const char *module,
			enum binary_stage stage, struct naming_entry *e)
{
	struct module_line line;
	struct binary b;
	int r;

	e->status = NAMING_NO_FILE;
	if (stage == BINARY_INDEX && !naming_locations_index(n->locations))
		return 0;
	r = find_ko(n, image, module, stage, &b, &line);
	if (r)
		return r;
	if (b.fd >= 0)
		r = line.sections.nr ? load_ko_of_session(image, &b, &line, e)
				     : load_ko(image, &b, e);
	if (e->tab) {
		e->status = b.status;
		naming_set_from(e, b.path);
	}
	if (stage == BINARY_INDEX)
		naming_locations_warn(n->locations, module, b.status, false);
	binary_close(&b);
	module_line_done(&line);
	return r;
}

/* Returns a module's name as in kallsyms (malloc'd): recordings can call it "[ext4]". */
static char *naming_kernel_module_name(const char *name)
{
	size_t len = strlen(name);

	if (len > 2 && name[0] == '[' && name[len - 1] == ']')
		return strndup(name + 1, len - 2);
	return strdup(name);
}

/* Symbolizes a module. A file specified by the user comes first. Next is kallsyms, which
 * contains all sections of a module if it is from the same boot. Other files come last, because
 * only the addresses of their code sections are known, unless the session lists all of them. */
int naming_module(struct naming *n, const struct image *image, struct naming_entry *e)
{
	char *module = naming_kernel_module_name(dict_str(n->dict, image->name));
	int r = module ? name_from_ko(n, image, module, BINARY_INDEX, e) : -ENOMEM;

	if (!r && !e->tab)
		r = name_from_kallsyms(n, image, module, e);
	if (!r && !e->tab)
		r = name_from_ko(n, image, module, BINARY_HERE, e);
	if (!r && !e->tab)
		r = name_from_ko(n, image, module, BINARY_FETCH, e);
	if (!r && !e->tab)
		r = naming_given(n, image, e);
	if (!r && !e->tab)
		e->status = NAMING_NO_KALLSYMS;
	free(module);
	return r;
}

int naming_find_module(struct naming *n, const struct image *image,
		       struct binary *ret_binary, struct module_line *ret_line)
{
	static const enum binary_stage stages[] = { BINARY_INDEX, BINARY_HERE,
						    BINARY_FETCH };
	char *module = naming_kernel_module_name(dict_str(n->dict, image->name));
	int r = module ? 0 : -ENOMEM;

	*ret_binary = (struct binary){ .fd = -1, .debug_fd = -1 };
	*ret_line = (struct module_line){ 0 };
	for (size_t i = 0; !r && ret_binary->fd < 0 && i < 3; i++) {
		if (stages[i] == BINARY_INDEX && !naming_locations_index(n->locations))
			continue;
		module_line_done(ret_line);
		binary_close(ret_binary);
		r = find_ko(n, image, module, stages[i], ret_binary, ret_line);
	}
	free(module);
	return r;
}
