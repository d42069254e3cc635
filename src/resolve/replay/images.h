/* SPDX-License-Identifier: GPL-2.0-or-later */
/* images.h - all mapped binaries, and their numbers in the dict once they have samples.
 * Layer: resolve. Mappings refer to entries here. The dict (and so the session) gets an image,
 * and its name, only with its first sample: most mapped libraries never have one. An entry
 * without samples is freed together with its last mapping that can still be looked up. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/name_pool.h"
#include "base/containers/vec.h"
#include "decode/record.h"
#include "format/session/dict.h"
#include "resolve/replay/resolver_ops.h"
#include "resolve/space/space.h"

struct image_entry {
	struct image image; /* its name is in image_table.names, with a reference */
	uint32_t number;    /* in the dict; DICT_NONE before the first sample */
	uint32_t refs;      /* counted mappings that refer to it */
	uint64_t asked_ns;  /* time of the last call of is_rewritten() */
};

struct image_table {
	struct dict *dict;
	struct name_pool *names; /* borrowed */
	const struct resolver_ops *ops;
	VEC(struct image_entry) entries;
	struct map by_identity; /* hash of the identity -> list of entries */
	/* hash of a module's build-id -> its entry, or FALSE_MODULE_ID */
	struct map module_ids;
	uint64_t nr_instances; /* anonymous regions so far */
	VEC(uint32_t) unused;  /* free entries */
	size_t nr_used;        /* entries in use */
};

enum {
	IMAGE_TABLE_FAILED = 0xffffffff,
	/* Bytes of a kernel image's name with its NUL; longer names are cut. */
	IMAGE_NAME_MAX = 256
};

/* Writes the image name for the path of a kernel mapping: "[kernel.kallsyms]" (to which perf
 * appends its reference symbol), or the module's name: "ext4" for "/lib/.../ext4.ko.xz" and
 * "[ext4]". Returns IMAGE_KERNEL or IMAGE_MODULE. */
enum image_kind image_kernel_name(const char *path, char *out, size_t out_bytes);

void image_table_init(struct image_table *t, struct dict *dict, struct name_pool *names,
		      const struct resolver_ops *ops);
void image_table_done(struct image_table *t);
/* Returns the offset of a mapping's first byte in its image: 0 for memory without a file, for
 * which the kernel reports the address as offset. */
uint64_t image_table_first_offset(const struct record_mmap *m);
/* Returns the entry for an MMAP or MMAP2 record (user space, kernel or module): an existing one
 * for a known file, always a new one for anonymous memory. Returns IMAGE_TABLE_FAILED if memory
 * is short. */
uint32_t image_table_of_mmap(struct image_table *t, const struct record_mmap *m,
			     bool kernel);
/* Returns the entry for a copy of a file's code in anonymous memory. `file` is the entry of the
 * file. */
uint32_t image_table_of_copy(struct image_table *t, uint32_t file);
/* Like image_table_of_mmap(), for a record of a virtual machine's kernel: the kernel itself, which
 * perf calls "[guest.kernel.kallsyms]" (with a number in it if there are several machines), or a
 * module, "[ext4]". */
uint32_t image_table_of_guest(struct image_table *t, const struct record_mmap *m);
/* Adds an entry that no mapping record describes (BPF programs, unmapped space) with this name;
 * `image` has no name. Always adds a new one; returns IMAGE_TABLE_FAILED if memory is short. */
uint32_t image_table_add_named(struct image_table *t, const struct image *image,
			       const char *name);
/* Returns the memory that an entry and its name use, divided by the number of its mappings. */
size_t image_table_bytes_per_map(const struct image_table *t, uint32_t entry);
/* Adds `change` to the number of mappings of an entry; implements space_pool.count_image, and
 * `ctx` is the table. Frees an entry without mappings for reuse, because a JIT compiler maps
 * memory thousands of times a second, and a program can map files under ever new names. Keeps
 * entries of images with samples, except those of anonymous memory and BPF programs. */
void image_table_count(void *ctx, uint32_t entry, int change);
/* Returns the entry's number in the dict, added at the first call, or DICT_NONE if memory is
 * short. `pid` and `m` (can be NULL) give its current mapping. */
uint32_t image_table_first_hit(struct image_table *t, uint32_t entry, int32_t pid,
			       const struct mapping *m);
static inline uint32_t image_table_hit(struct image_table *t, uint32_t entry,
				       int32_t pid, const struct mapping *m)
{
	uint32_t number = t->entries.at[entry].number;

	return number != DICT_NONE ? number : image_table_first_hit(t, entry, pid, m);
}
