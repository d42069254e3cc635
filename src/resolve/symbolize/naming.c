/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/symbolize/naming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/err.h"
#include "base/files/faults.h"
#include "resolve/elf/file.h"
#include "resolve/find/file_index.h"
#include "resolve/find/live_files.h"
#include "resolve/jit/files.h"
#include "resolve/symbolize/locations.h"
#include "resolve/symbolize/priv.h"
#include "resolve/symbolize/unnamed.h"

/* Returns whether the recording can be from this machine, with the running kernel. */
static bool is_this_machine(const struct session_info *info)
{
	struct utsname here;

	return !uname(&here) && info->hostname && info->os_release &&
	       !strcmp(info->hostname, here.nodename) &&
	       !strcmp(info->os_release, here.release);
}

int naming_new(const struct dict *dict, const struct session_info *info,
	       const char *session_dir, struct naming **ret_naming)
{
	struct naming *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->dict = dict;
	n->info = info;
	n->is_local = is_this_machine(info);
	n->host_unknown = !info->hostname || !info->hostname[0];
	n->jit_dir = strdup(session_dir ? session_dir : "");
	if (!session_dir || info->flags & SESSION_IMPORTED)
		session_dir = "";
	n->session_dir = strdup(session_dir);
	if (!n->session_dir || !n->jit_dir) {
		naming_free(n);
		return -ENOMEM;
	}
	*ret_naming = n;
	return 0;
}

bool naming_is_local(const struct naming *n)
{
	return n->is_local;
}

bool naming_is_foreign(const struct naming *n)
{
	const char *recorded = n->info->hostname;
	struct utsname here;

	return recorded && *recorded && !uname(&here) &&
	       strcmp(recorded, here.nodename) != 0;
}

void naming_free(struct naming *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->entries.nr; i++) {
		unnamed_free(n->entries.at[i].unnamed);
		symtab_free(n->entries.at[i].tab);
		symtab_free(n->entries.at[i].data);
		free(n->entries.at[i].from);
	}
	vec_done(&n->entries);
	vec_done(&n->wants);
	live_files_free(n->live);
	naming_kallsyms_done(&n->kallsyms);
	naming_jit_done(&n->jit);
	naming_guest_done(&n->guest);
	buf_done(&n->modules);
	file_index_free(n->installed_modules);
	free(n->session_dir);
	free(n->jit_dir);
	free(n);
}

void naming_use(struct naming *n, struct naming_locations *p)
{
	n->locations = p;
}

void naming_recorded_in(struct naming *n, const char *path)
{
	n->until_wall_ns = jit_recorded_until(path);
}

void naming_use_codes(struct naming *n, const struct perf_input_code *codes, size_t nr,
		      const char *machine)
{
	n->codes = codes;
	n->nr_codes = nr;
	n->machine = machine;
}

void naming_use_symbol_files(struct naming *n,
			     const struct perf_input_symbol_file *files, size_t nr)
{
	n->symbol_files = files;
	n->nr_symbol_files = nr;
}

/* Returns the locations in which binaries are searched in this stage. `foreign` is false for a
 * session, because it also records the identity of files, not only their paths. */
struct binary_locations naming_binary_locations(struct naming *n,
						enum binary_stage stage)
{
	return (struct binary_locations){
		.stage = stage,
		.session_dir = n->session_dir,
		.root = naming_locations_root(n->locations),
		.debug_dir = naming_locations_debug_dir(n->locations),
		.index = stage == BINARY_INDEX ? naming_locations_index(n->locations)
					       : NULL,
		.debuginfod = naming_locations_debuginfod(n->locations),
		.wants = n->deferring ? &n->wants : NULL,
		.cached_only = n->fetched,
		.lines = n->want_lines,
		.trace = naming_locations_trace(n->locations),
		.foreign = !n->session_dir[0] && !n->is_local,
		.host_unknown = n->host_unknown,
		.archive = naming_locations_archive(n->locations),
	};
}

void naming_tried(const struct naming *n, const char *step, const char *path,
		  enum naming_status outcome)
{
	const struct naming_trace *trace = naming_locations_trace(n->locations);

	if (trace)
		trace->tried(trace->ctx, step, path, outcome);
}

void naming_set_from(struct naming_entry *e, const char *path)
{
	e->from = strdup(path);
}

/* Symbolizes a BPF program: its only symbol is the program's name. */
static int name_bpf(struct naming *n, const struct image *image, struct naming_entry *e)
{
	uint64_t bytes =
		image->end > image->start ? image->end - image->start : UINT64_MAX;
	int r = symtab_of_one(dict_str(n->dict, image->name), bytes, image->start,
			      &e->tab);

	e->status = r ? NAMING_NO_SYMBOLS : NAMING_OK;
	return r;
}

/* Loads the symbols of a binary: those of its debug file if it has any, because they are more
 * complete. */
static int load_binary(const struct naming *n, const struct binary *b,
		       struct naming_entry *e)
{
	enum symtab_positions positions = n->info->flags & SESSION_WEIGHTED
						  ? SYMTAB_AS_OPROFILE
						  : SYMTAB_FILE_OFFSETS;
	int r = -ENODATA;

	if (b->debug_fd >= 0)
		r = symtab_load_elf_debug(b->fd, b->debug_fd, positions, &e->tab, NULL);
	if (r == 0) {
		naming_set_from(e, b->debug_path);
		return 0;
	}
	symtab_free(e->tab);
	e->tab = NULL;
	if (r == -ENOMEM)
		return r;
	r = symtab_load_elf_fd(b->fd, positions, &e->tab, NULL);
	if (r == 0 || r == -ENODATA)
		naming_set_from(e, b->path);
	return r;
}

/* Returns whether there is anything to search in a stage. The directories of the image path are
 * walked only if the binary is not found elsewhere. */
static bool has_stage(struct naming *n, enum binary_stage stage,
		      enum naming_status status)
{
	if (stage == BINARY_CHANGED)
		return status == NAMING_OTHER_FILE &&
		       naming_locations_accept_changed(n->locations);
	if (stage == BINARY_INDEX)
		return naming_locations_index(n->locations);
	return stage == BINARY_HERE || naming_locations_debuginfod(n->locations);
}

/* Returns the recorded processes that still run; NULL if the recording is from another boot, or
 * they must not be used. */
static struct live_files *live_files_of(struct naming *n)
{
	if (!n->live_tried && !naming_locations_root(n->locations)[0] &&
	    live_files_possible(n->info))
		(void)live_files_new(n->dict, n->info, &n->live);
	n->live_tried = true;
	return n->live;
}

int naming_find_binary(struct naming *n, const struct image *image, const char *name,
		       struct binary *b)
{
	struct binary_locations locations = naming_binary_locations(n, BINARY_HERE);
	int r;

	locations.live = live_files_of(n);
	locations.number = (uint32_t)(image - n->dict->images.at);
	r = binary_find(&locations, image, name, b);

	for (int stage = BINARY_INDEX; !r && b->fd < 0 && stage < BINARY_STAGES;
	     stage++) {
		enum naming_status status = b->status;

		if (!has_stage(n, stage, status))
			continue;
		binary_close(b);
		locations = naming_binary_locations(n, stage);
		r = binary_find(&locations, image, name, b);
		if (!r && b->status == NAMING_NO_FILE)
			b->status = status;
	}
	return r;
}

/* Returns the status to warn about. For a sample file of OProfile, the modification time of a
 * binary is the only proof, so no warning is needed if it matches. */
static enum naming_status status_to_report(const struct naming *n,
					   const struct image *image,
					   enum naming_status status)
{
	bool proved = n->info->flags & SESSION_WEIGHTED && image->mtime_ns;

	return proved && status == NAMING_UNVERIFIED ? NAMING_OK : status;
}

static int find_file(struct naming *n, const struct image *image,
		     struct naming_entry *e)
{
	const char *name = dict_str(n->dict, image->name);
	size_t nr_wants = n->wants.nr;
	struct binary b;
	int r = naming_find_binary(n, image, name, &b);

	if (r)
		return r;
	if (n->wants.nr > nr_wants) { /* search again after naming_fetch() */
		binary_close(&b);
		return 0;
	}
	e->status = b.status;
	if (b.fd >= 0) {
		r = load_binary(n, &b, e);
		if (r == -ENODATA)
			e->status = NAMING_NO_SYMBOLS;
		else if (r)
			e->status = NAMING_UNREADABLE;
	}
	if (image->kind == IMAGE_FILE)
		naming_locations_warn(
			n->locations, name,
			status_to_report(n, image,
					 b.fd >= 0 && e->status != NAMING_UNREADABLE
						 ? b.status
						 : e->status),
			!image->build_id.len);
	binary_close(&b);
	return r == -ENOMEM ? r : 0;
}

/* Loads the symbols of a file. The symbols in the recording are used last: they are only those that
 * the recorder could read. */
static int name_file(struct naming *n, const struct image *image,
		     struct naming_entry *e)
{
	struct naming_entry given = { 0 };
	int r = find_file(n, image, e);

	if (r || (e->tab && symtab_count(e->tab)))
		return r;
	if (image->kind == IMAGE_VDSO && !e->tab) {
		r = naming_own_vdso(n, image, e);
		if (r || e->tab)
			return r;
	}
	r = naming_given(n, image, &given);
	if (!given.tab)
		return r;
	symtab_free(e->tab);
	free(e->from);
	*e = given;
	return 0;
}

static int name_nothing(struct naming *n, const struct image *image,
			struct naming_entry *e)
{
	(void)n;
	(void)image;
	e->status = NAMING_NONE_EXPECTED;
	return 0;
}

static int (*const name_kind[IMAGE_COUNT])(struct naming *, const struct image *,
					   struct naming_entry *) = {
	[IMAGE_LOST] = name_nothing,
	[IMAGE_FILE] = name_file,
	[IMAGE_KERNEL] = naming_kernel,
	[IMAGE_MODULE] = naming_module,
	[IMAGE_BPF] = name_bpf,
	[IMAGE_VDSO] = name_file,
	[IMAGE_ANON] = naming_anon,
	[IMAGE_UNMAPPED] = name_nothing,
	[IMAGE_GUEST_KERNEL] = naming_guest,
	[IMAGE_GUEST_USER] = name_nothing,
	[IMAGE_HYPERVISOR] = name_nothing,
	[IMAGE_KERNEL_UNMAPPED] = name_nothing,
	[IMAGE_JIT] = naming_dump,
};

/* Resets an entry, so that it is loaded again. */
static void naming_forget(struct naming_entry *e)
{
	symtab_free(e->tab);
	unnamed_free(e->unnamed);
	free(e->from);
	*e = (struct naming_entry){ 0 };
}

static void naming_load(struct naming *n, const struct image *image,
			struct naming_entry *e)
{
	size_t nr_wants = n->wants.nr;
	int r = 0;

	e->status = NAMING_NONE_EXPECTED;
	if ((unsigned int)image->kind < IMAGE_COUNT)
		r = name_kind[image->kind](n, image, e);
	if (r) {
		/* Report an error such as out of memory, and do not try again for every sample. */
		fault_unreadable(dict_str(n->dict, image->name), r);
		symtab_free(e->tab);
		e->tab = NULL;
		e->status = NAMING_UNREADABLE;
	}
	if (n->wants.nr > nr_wants) {
		naming_forget(e);
		e->deferred = true;
	}
	e->done = true;
}

/* Returns the loaded entry; NULL if out of memory or `image` is not a valid index. */
static struct naming_entry *naming_entry_of(struct naming *n, uint32_t image)
{
	struct naming_entry *e;

	if (image >= n->dict->images.nr)
		return NULL;
	while (n->entries.nr <= image) {
		if (!vec_push(&n->entries, (struct naming_entry){ 0 }))
			return NULL;
	}
	e = &n->entries.at[image];
	if (!e->done)
		naming_load(n, &n->dict->images.at[image], e);
	return e;
}

bool naming_defer(struct naming *n)
{
	n->deferring = naming_locations_debuginfod(n->locations) && !n->fetched;
	return n->deferring;
}

bool naming_is_deferred(struct naming *n, uint32_t image)
{
	const struct naming_entry *e = n->deferring ? naming_entry_of(n, image) : NULL;

	return e && e->deferred;
}

/* Marks the deferred entries, which are empty, as not searched. */
static void forget_deferred(struct naming *n)
{
	for (size_t i = 0; i < n->entries.nr; i++)
		if (n->entries.at[i].deferred)
			n->entries.at[i].done = n->entries.at[i].deferred = false;
}

int naming_fetch(struct naming *n, const uint32_t *images, size_t nr)
{
	/* Second round: a fetched binary might need its debug file. */
	for (int round = 0; n->deferring && round < 2; round++) {
		forget_deferred(n);
		n->wants.nr = 0;
		for (size_t i = 0; i < nr; i++)
			if (!naming_entry_of(n, images[i]) &&
			    images[i] < n->dict->images.nr)
				return -ENOMEM;
		if (!n->wants.nr)
			break;
		debuginfod_fetch(naming_locations_debuginfod(n->locations), n->wants.at,
				 n->wants.nr);
	}
	forget_deferred(n);
	n->deferring = false;
	n->fetched = true;
	return 0;
}

const struct symtab *naming_symtab(struct naming *n, uint32_t image)
{
	const struct naming_entry *e = naming_entry_of(n, image);

	return e ? e->tab : NULL;
}

enum naming_status naming_status(struct naming *n, uint32_t image,
				 const char **ret_from)
{
	const struct naming_entry *e = naming_entry_of(n, image);

	*ret_from = e && e->from ? e->from : "";
	return e ? e->status : NAMING_NONE_EXPECTED;
}

/* Reads a part of the image's file for its unnamed code. The file is found and verified again,
 * because hundreds of descriptors cannot be kept open. */
static void read_unnamed(struct naming *n, uint32_t image, enum unnamed_part part)
{
	const struct image *i = &n->dict->images.at[image];
	struct naming_entry *e = &n->entries.at[image];
	struct elf_file f;
	struct binary b;

	if (naming_find_binary(n, i, dict_str(n->dict, i->name), &b))
		return;
	if (b.fd >= 0 && !elf_file_init_fd(&f, b.fd, NULL)) {
		if (!e->unnamed)
			(void)unnamed_new(&f, e->tab, &e->unnamed);
		if (e->unnamed)
			(void)unnamed_read(e->unnamed, &f, part);
		elf_file_done(&f);
	}
	binary_close(&b);
}

static const struct symbol *find_unnamed(struct naming *n, uint32_t image,
					 uint64_t offset, enum naming_kind *ret_kind)
{
	static const enum naming_kind kinds[] = {
		[UNNAMED_NAMED] = NAMING_SYMBOL,
		[UNNAMED_FUNCTION] = NAMING_FUNCTION,
		[UNNAMED_SECTION] = NAMING_SECTION,
	};
	struct naming_entry *e = &n->entries.at[image];
	enum image_kind kind = n->dict->images.at[image].kind;
	const struct symbol *s;
	enum unnamed_kind found = UNNAMED_NAMED;
	enum unnamed_part part;

	if (!e->tab || (kind != IMAGE_FILE && kind != IMAGE_VDSO))
		return NULL;
	if (!e->unnamed_done) {
		e->unnamed_done = true;
		read_unnamed(n, image, UNNAMED_READ_NOTHING);
	}
	if (!e->unnamed)
		return NULL;
	part = unnamed_needs(e->unnamed, offset);
	if (part != UNNAMED_READ_NOTHING)
		read_unnamed(n, image, part);
	s = unnamed_find(e->unnamed, offset, &found);
	*ret_kind = kinds[found];
	return s;
}

const struct symbol *naming_find(struct naming *n, uint32_t image, uint64_t offset,
				 enum naming_kind *ret_kind)
{
	const struct naming_entry *e = naming_entry_of(n, image);
	const struct symbol *s = e && e->tab ? symtab_find(e->tab, offset) : NULL;
	enum naming_kind kind = NAMING_SYMBOL;

	if (e && !s)
		s = find_unnamed(n, image, offset, &kind);
	if (s && ret_kind)
		*ret_kind = kind;
	return s;
}

static void load_data(struct naming *n, const struct image *image,
		      struct naming_entry *e)
{
	struct binary b;

	e->data_done = true;
	if (image->kind != IMAGE_FILE ||
	    naming_find_binary(n, image, dict_str(n->dict, image->name), &b))
		return;
	if (b.fd >= 0 && symtab_load_elf_data(b.fd, b.debug_fd, &e->data, NULL) &&
	    b.debug_fd >= 0) {
		symtab_free(e->data);
		e->data = NULL;
		(void)symtab_load_elf_data(b.fd, -1, &e->data, NULL);
	}
	binary_close(&b);
}

const struct symbol *naming_find_data(struct naming *n, uint32_t image, uint64_t offset)
{
	struct naming_entry *e = naming_entry_of(n, image);

	/* If the code could not be read, the data cannot be read either. */
	if (!e || !e->tab)
		return NULL;
	if (!e->data_done)
		load_data(n, &n->dict->images.at[image], e);
	return e->data ? symtab_find(e->data, offset) : NULL;
}
