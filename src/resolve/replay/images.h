/* SPDX-License-Identifier: GPL-2.0-or-later */
/* images.h - every binary that is mapped, and its number in the dict once hit.
 * Layer: resolve.  Mappings refer to entries here; the dict (and so the session) gets an
 * image, and its name, only with its first sample: most mapped libraries are never hit.  An
 * entry that was never hit is freed with the last mapping of it that can still be asked for. */
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
	struct image image; /* name is one of image_table.names, with a reference */
	uint32_t number;    /* in the dict; DICT_NONE before the first hit */
	uint32_t refs;      /* counted mappings that refer to it */
	uint64_t asked_ns;  /* when is_rewritten() was asked last */
};

struct image_table {
	struct dict *dict;
	struct name_pool *names; /* borrowed */
	const struct resolver_ops *ops;
	VEC(struct image_entry) entries;
	struct map by_identity; /* list of entries under each hash */
	uint64_t nr_instances;  /* of anonymous regions so far */
	VEC(uint32_t) unused;   /* entries that nothing refers to any more */
	size_t nr_used;         /* the others */
};

enum {
	IMAGE_TABLE_FAILED = 0xffffffff,
	IMAGE_NAME_MAX =
		256 /* bytes of a kernel image's name with its NUL; more is cut */
};

/* The name of what a kernel mapping's path means: "[kernel.kallsyms]" (to which perf appends
 * its reference symbol), or a module's: "ext4" for "/lib/.../ext4.ko.xz" and "[ext4]". */
enum image_kind image_kernel_name(const char *path, char *out, size_t out_bytes);

void image_table_init(struct image_table *t, struct dict *dict, struct name_pool *names,
		      const struct resolver_ops *ops);
void image_table_done(struct image_table *t);
/* The offset of a mapping's first byte in its image: the kernel gives the address as offset
 * of memory without a file. */
uint64_t image_table_first_offset(const struct record_mmap *m);
/* The entry for what an MMAP or MMAP2 record maps (user space, kernel or module): an old
 * one for a known file, always a new one for anonymous memory.  IMAGE_TABLE_FAILED when
 * memory is short. */
uint32_t image_table_of_mmap(struct image_table *t, const struct record_mmap *m,
			     bool kernel);
/* The same for a record of a virtual machine's kernel: its own code, "[guest.kernel.kallsyms]"
 * as perf calls it (of several machines with a number in it), or a module's, "[ext4]". */
uint32_t image_table_of_guest(struct image_table *t, const struct record_mmap *m);
/* An entry made by hand (BPF programs, unmapped space) with this name; `image` has none.  Always
 * new; IMAGE_TABLE_FAILED when memory is short. */
uint32_t image_table_add_named(struct image_table *t, const struct image *image,
			       const char *name);
/* For struct space_pool; what nothing refers to any more makes room for another: a JIT compiler
 * maps memory thousands of times a second, and a program can map files under ever new names.
 * Only files that were hit stay.  `ctx`: the table. */
void image_table_count(void *ctx, uint32_t entry, int change);
/* Its number in the dict, made at the first call.  `pid` and `m` (may be NULL) tell where it
 * is mapped now.  DICT_NONE when memory is short. */
uint32_t image_table_first_hit(struct image_table *t, uint32_t entry, int32_t pid,
			       const struct mapping *m);
static inline uint32_t image_table_hit(struct image_table *t, uint32_t entry,
				       int32_t pid, const struct mapping *m)
{
	uint32_t number = t->entries.at[entry].number;

	return number != DICT_NONE ? number : image_table_first_hit(t, entry, pid, m);
}
