/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/replay/images.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/containers/hash.h"
#include "resolve/replay/names.h"
#include "resolve/symbols/module_name.h"

static const uint64_t ask_again_ns = 100000000;

enum {
	FALSE_MODULE_ID =
		0x7fffffff /* value in module_ids: several modules have this build-id */
};

void image_table_init(struct image_table *t, struct dict *dict, struct name_pool *names,
		      const struct resolver_ops *ops)
{
	*t = (struct image_table){ .dict = dict, .names = names, .ops = ops };
}

void image_table_done(struct image_table *t)
{
	vec_done(&t->entries);
	vec_done(&t->unused);
	map_done(&t->by_identity);
	map_done(&t->module_ids);
}

static bool starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* Returns whether an executable file mapping is memory that a program filled with code, for
 * example a file that libffi creates and unlinks at once. The name of a deleted binary also ends
 * with " (deleted)", but a loader maps binaries privately and not writable. */
static bool images_is_memory_file(const struct image_table *t,
				  const struct record_mmap *m)
{
	static const char deleted[] = " (deleted)";
	const size_t len = strlen(m->path), tail = sizeof(deleted) - 1;
	const bool unlinked = len > tail && !strcmp(m->path + len - tail, deleted);

	if (!(m->prot & PROT_EXEC) || (!unlinked && !starts_with(m->path, "/dev/shm/")))
		return false;
	return m->flags & MAP_SHARED || m->prot & PROT_WRITE ||
	       (t->ops && t->ops->is_memory && t->ops->is_memory(t->ops->ctx, m));
}

/* Returns the kind of a mapping by its name. The kernel makes up these names for memory without
 * a file: mm/shmem.c, fs/anon_inodes.c, arch_vma_name() and perf_event_mmap_event(). */
static enum image_kind user_kind(const struct image_table *t,
				 const struct record_mmap *m)
{
	static const char *const memory[] = {
		"//anon", "/dev/zero", "/anon_hugepage", "/SYSV", "/memfd:", "/i915",
	};

	if (!strcmp(m->path, "[vdso]"))
		return IMAGE_VDSO;
	if (m->build_id_len)
		return IMAGE_FILE; /* memory of any kind is a binary if it has a build-id */
	if (m->path[0] != '/')
		return IMAGE_ANON;
	for (size_t i = 0; i < COUNT_OF(memory); i++)
		if (m->path[1] == memory[i][1] && starts_with(m->path, memory[i]))
			return IMAGE_ANON;
	return images_is_memory_file(t, m) ? IMAGE_ANON : IMAGE_FILE;
}

/* Writes the name of a module: ext4 for "/lib/modules/6.1/kernel/fs/ext4/ext4.ko.xz" or
 * "[ext4]". Dashes in a file name become the underscores of the module name. */
static void images_module_name(const char *path, char *out, size_t out_bytes)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path + (path[0] == '[');
	const char *end = strstr(name, slash ? ".ko" : "]");
	size_t len = end ? (size_t)(end - name) : strlen(name);

	if (len >= out_bytes)
		len = out_bytes - 1;
	memcpy(out, name, len);
	out[len] = '\0';
	for (char *c = out; *c; c++)
		*c = module_name_char(*c);
}

static const char kernel_prefix[] = "[kernel.kallsyms]";

enum image_kind image_kernel_name(const char *path, char *out, size_t out_bytes)
{
	if (starts_with(path, kernel_prefix)) {
		memcpy(out, kernel_prefix, sizeof(kernel_prefix));
		return IMAGE_KERNEL;
	}
	images_module_name(path, out, out_bytes);
	return IMAGE_MODULE;
}

static uint64_t identity_hash(const struct image *i)
{
	uint64_t hash = hash_pair(i->name, i->kind);

	if (i->build_id.len)
		return hash_bytes(i->build_id.bytes, i->build_id.len, hash);
	return hash_pair(hash,
			 hash_pair(i->inode, i->dev ^ i->inode_gen << 1 ^ i->start));
}

static bool same_image(const struct image *a, const struct image *b)
{
	if (a->name != b->name || a->kind != b->kind ||
	    a->build_id.len != b->build_id.len ||
	    (a->kind == IMAGE_FILE && a->ref_name != b->ref_name))
		return false;
	if (a->build_id.len)
		return !memcmp(a->build_id.bytes, b->build_id.bytes, a->build_id.len);
	return a->inode == b->inode && a->dev == b->dev &&
	       a->inode_gen == b->inode_gen && a->start == b->start && a->end == b->end;
}

/* Adds an entry. Takes over the reference to image->name, also on failure. Returns the index of the
 * entry, or IMAGE_TABLE_FAILED. */
static uint32_t images_add(struct image_table *t, const struct image *image)
{
	struct image_entry entry = { .image = *image, .number = DICT_NONE };
	uint32_t index = (uint32_t)t->entries.nr;

	if (entry.image.kind == IMAGE_ANON || entry.image.kind == IMAGE_UNMAPPED)
		entry.image.inode = ++t->nr_instances;
	if (t->unused.nr) {
		index = t->unused.at[--t->unused.nr];
		t->entries.at[index] = entry;
	} else if (!vec_push(&t->entries, entry)) {
		name_pool_put(t->names, image->name);
		return IMAGE_TABLE_FAILED;
	}
	t->nr_used++;
	return index;
}

uint32_t image_table_add_named(struct image_table *t, const struct image *image,
			       const char *name)
{
	struct image named = *image;

	named.name = name_pool_get(t->names, name);
	return named.name == NAME_POOL_NONE ? IMAGE_TABLE_FAILED
					    : images_add(t, &named);
}

/* Returns whether an entry is for one mapping only. */
static bool images_is_instance(const struct image *image)
{
	return image->kind == IMAGE_ANON || image->kind == IMAGE_BPF;
}

/* Frees an entry that is not used any more. A file with samples keeps its number for when it is
 * mapped again. */
static void images_release(struct image_table *t, uint32_t entry)
{
	struct image_entry *e = &t->entries.at[entry];
	bool is_instance = images_is_instance(&e->image);

	/* If memory is too short to note that the entry is unused, it stays. */
	if ((!is_instance && e->number != DICT_NONE) || !vec_push(&t->unused, entry))
		return;
	if (!is_instance)
		map_remove_from_list(&t->by_identity, identity_hash(&e->image), entry);
	name_pool_put(t->names, e->image.name);
	t->nr_used--;
}

size_t image_table_bytes_per_map(const struct image_table *t, uint32_t entry)
{
	const struct image_entry *e = &t->entries.at[entry];
	const char *name = name_pool_text(t->names, e->image.name);

	return (sizeof(*e) + strlen(name) + 1) / (e->refs ? e->refs : 1);
}

void image_table_count(void *ctx, uint32_t entry, int change)
{
	struct image_table *t = ctx;

	t->entries.at[entry].refs += (uint32_t)change;
	if (!t->entries.at[entry].refs)
		images_release(t, entry);
}

/* Returns whether a file was rewritten since it was first mapped: some linkers, and cp, overwrite
 * a file and keep its inode. */
static bool images_is_rewritten(struct image_table *t, struct image_entry *e)
{
	uint64_t now;

	if (!t->ops || !t->ops->is_rewritten || e->image.kind != IMAGE_FILE ||
	    e->image.build_id.len || e->number == DICT_NONE)
		return false;
	now = clock_now_ns(CLOCK_MONOTONIC_COARSE);
	if (now - e->asked_ns < ask_again_ns)
		return false;
	e->asked_ns = now;
	return t->ops->is_rewritten(t->ops->ctx,
				    name_pool_text(t->names, e->image.name),
				    &t->dict->images.at[e->number]);
}

/* Returns the index of the image's entry, and first adds an entry if the table has no image of the
 * same identity. Returns IMAGE_TABLE_FAILED if memory is short. Takes over the reference to image->name, also on failure. */
static uint32_t find_or_add(struct image_table *t, const struct image *image)
{
	uint64_t hash = identity_hash(image);
	uint64_t probe = 0;
	uint32_t index;

	while ((index = map_get(&t->by_identity, hash, probe)) != MAP_NONE) {
		struct image_entry *e = &t->entries.at[index];

		if (same_image(&e->image, image)) {
			if (images_is_rewritten(t, e))
				break;
			name_pool_put(t->names, image->name);
			return index;
		}
		probe++;
	}
	index = images_add(t, image);
	if (index == IMAGE_TABLE_FAILED || map_set(&t->by_identity, hash, probe, index))
		return IMAGE_TABLE_FAILED;
	return index;
}

/* Takes the reference symbol from a record like "[kernel.kallsyms]_text", whose offset is the
 * symbol's run-time address (0 if the kernel hides it). `prefix_len` is the length of the name
 * before the symbol. Returns 0 or -ENOMEM. */
static int note_reference(struct image_table *t, const struct record_mmap *m,
			  size_t prefix_len, struct image *image)
{
	const char *symbol = m->path + prefix_len;

	if (!*symbol || !m->pgoff)
		return 0;
	image->ref_name = dict_string(t->dict, symbol);
	image->ref_address = m->pgoff;
	return image->ref_name == DICT_NONE ? -ENOMEM : 0;
}

uint32_t image_table_of_guest(struct image_table *t, const struct record_mmap *m)
{
	struct image image = { .kind = IMAGE_GUEST_KERNEL,
			       .start = m->start,
			       .end = m->start + m->len };
	const char *bracket = strchr(m->path, ']');
	char name[IMAGE_NAME_MAX] = "[";
	size_t len = 1;

	/* Copy the name up to the closing bracket: names of several machines have a number
	 * before it. */
	if (starts_with(m->path, "[guest.kernel.kallsyms") && bracket) {
		len = (size_t)(bracket - m->path) < sizeof(name) - 2
			      ? (size_t)(bracket - m->path)
			      : sizeof(name) - 2;
		memcpy(name, m->path, len);
		if (note_reference(t, m, (size_t)(bracket + 1 - m->path), &image))
			return IMAGE_TABLE_FAILED;
	} else {
		images_module_name(m->path, name + 1, sizeof(name) - 2);
		len = strlen(name);
	}
	memcpy(name + len, "]", 2);
	image.name = name_pool_get(t->names, name);
	return image.name == NAME_POOL_NONE ? IMAGE_TABLE_FAILED
					    : find_or_add(t, &image);
}

uint64_t image_table_first_offset(const struct record_mmap *m)
{
	return m->path[0] == '/' && strncmp(m->path, "//", 2) != 0 ? m->pgoff : 0;
}

static int images_add_identity(struct image_table *t, uint32_t entry)
{
	uint64_t hash = identity_hash(&t->entries.at[entry].image), probe = 0;

	while (map_get(&t->by_identity, hash, probe) != MAP_NONE)
		probe++;
	return map_set(&t->by_identity, hash, probe, entry);
}

/* Removes the build-id of an entry, unless a sample has used it. Returns 0 or -ENOMEM. */
static int images_forget_id(struct image_table *t, uint32_t entry)
{
	struct image *image = &t->entries.at[entry].image;

	if (t->entries.at[entry].number != DICT_NONE)
		return 0;
	map_remove_from_list(&t->by_identity, identity_hash(image), entry);
	image->build_id.len = 0;
	return images_add_identity(t, entry);
}

/* Before Linux 7.0, perf wrote the build-id of the first module to the MMAP2 records of all
 * modules. Drops an id that two modules have. Returns 0 or -ENOMEM. */
static int images_check_module_id(struct image_table *t, struct image *image)
{
	uint64_t hash = hash_bytes(image->build_id.bytes, image->build_id.len, 0);
	uint32_t entry = map_get(&t->module_ids, hash, 0);

	if (entry == MAP_NONE ||
	    (entry < t->entries.nr && t->entries.at[entry].image.name == image->name))
		return 0;
	image->build_id.len = 0;
	if (entry >= t->entries.nr)
		return 0;
	return images_forget_id(t, entry)
		       ? -ENOMEM
		       : map_set(&t->module_ids, hash, 0, FALSE_MODULE_ID);
}

/* Like find_or_add(), for a module. */
static uint32_t images_find_module(struct image_table *t, struct image *image)
{
	uint64_t hash = hash_bytes(image->build_id.bytes, image->build_id.len, 0);
	uint32_t entry;

	if (image->build_id.len && images_check_module_id(t, image)) {
		name_pool_put(t->names, image->name);
		return IMAGE_TABLE_FAILED;
	}
	entry = find_or_add(t, image);
	if (entry != IMAGE_TABLE_FAILED && image->build_id.len &&
	    map_set(&t->module_ids, hash, 0, entry))
		return IMAGE_TABLE_FAILED;
	return entry;
}

uint32_t image_table_of_mmap(struct image_table *t, const struct record_mmap *m,
			     bool kernel)
{
	struct image image = { .build_id.len = m->build_id_len };
	char name[IMAGE_NAME_MAX];

	memcpy(image.build_id.bytes, m->build_id, sizeof(m->build_id));
	if (kernel) {
		image.kind = image_kernel_name(m->path, name, sizeof(name));
		image.name = name_pool_get(t->names, name);
		image.start = m->start;
		image.end = m->start + m->len;
		if (image.kind == IMAGE_KERNEL &&
		    note_reference(t, m, strlen(kernel_prefix), &image))
			return IMAGE_TABLE_FAILED;
	} else {
		image.kind = user_kind(t, m);
		image.name = name_pool_get(t->names, m->path);
	}
	if (image.name == NAME_POOL_NONE)
		return IMAGE_TABLE_FAILED;
	if (image.kind == IMAGE_ANON) {
		/* Only executable memory can be JIT code, so memory for data needs no pid in its
		 * name. */
		image.pid = m->prot & PROT_EXEC ? m->pid : 0;
		image.start = m->start;
		image.end = m->start + m->len;
		image.ref_address = image_table_first_offset(m);
		return images_add(t, &image);
	}
	if (image.kind == IMAGE_MODULE)
		return images_find_module(t, &image);
	/* A 64-bit kernel has a different vdso for 32-bit programs. */
	if (image.kind == IMAGE_VDSO && !image.build_id.len &&
	    m->start + m->len <= UINT32_MAX)
		image.end = UINT32_MAX;
	if (image.kind == IMAGE_FILE && !image.build_id.len) {
		image.dev = makedev(m->maj, m->min);
		image.inode = m->ino;
		image.inode_gen = m->ino_gen;
	}
	return find_or_add(t, &image);
}

uint32_t image_table_of_copy(struct image_table *t, uint32_t file)
{
	struct image image = t->entries.at[file].image;

	image.ref_name = dict_string(t->dict, IMAGE_REMAPPED);
	if (image.ref_name == DICT_NONE)
		return IMAGE_TABLE_FAILED;
	image.name = name_pool_get(t->names, name_pool_text(t->names, image.name));
	return image.name == NAME_POOL_NONE ? IMAGE_TABLE_FAILED
					    : find_or_add(t, &image);
}

static bool images_is_binary(enum image_kind kind)
{
	return kind == IMAGE_FILE || kind == IMAGE_VDSO || kind == IMAGE_KERNEL ||
	       kind == IMAGE_MODULE;
}

uint32_t image_table_first_hit(struct image_table *t, uint32_t entry, int32_t pid,
			       const struct mapping *m)
{
	struct image_entry *e = &t->entries.at[entry];
	/* first_hit() may change only the image of the dict: the entry keeps the identity that the
	 * mapping record had. */
	struct image image = e->image;

	image.name = names_string(t->names, t->dict, e->image.name);
	if (image.name == DICT_NONE)
		return DICT_NONE;
	if (t->ops && t->ops->first_hit && images_is_binary(image.kind))
		t->ops->first_hit(t->ops->ctx, dict_str(t->dict, image.name), pid,
				  m ? m->start : 0, m ? m->end : 0, &image);
	/* A file can have the build-id of another file, so device, inode, mtime and size identify
	 * it better, if they are known. */
	e->number = image.kind == IMAGE_FILE && image.mtime_ns
			    ? dict_image_of_file(t->dict, &image)
			    : dict_image(t->dict, &image);
	return e->number;
}
