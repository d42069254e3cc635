/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/symbolize/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/containers/vec.h"
#include "resolve/elf/file.h"
#include "resolve/jit/dump.h"
#include "resolve/symbolize/locations.h"
#include "resolve/symbolize/priv.h"
#include "resolve/unwind/cache.h"
#include "resolve/unwind/code_blocks.h"
#include "resolve/unwind/jit.h"

struct naming_unwind_entry {
	bool done;
	int code_fd_plus_1; /* 0: not opened yet; negative: no file */
	struct unwind_table *table;
};

struct naming_unwind {
	struct naming *naming;
	VEC(struct naming_unwind_entry) entries; /* by image index */
	struct code_blocks code;
};

static struct naming_unwind_entry *naming_unwind_entry_of(struct naming_unwind *u,
							  uint32_t image)
{
	while (u->entries.nr <= image)
		if (!vec_push(&u->entries, (struct naming_unwind_entry){ 0 }))
			return NULL;
	return &u->entries.at[image];
}

static int naming_unwind_find_code(struct naming *n, const struct image *image)
{
	struct binary b;
	int fd = -ENOENT;

	if (naming_find_binary(n, image, dict_str(n->dict, image->name), &b))
		return -ENOMEM;
	if (b.fd >= 0)
		fd = fcntl(b.fd, F_DUPFD_CLOEXEC, 0);
	binary_close(&b);
	return fd;
}

static int naming_unwind_open_code(void *ctx, uint32_t image)
{
	struct naming_unwind *u = ctx;
	struct naming_unwind_entry *e = naming_unwind_entry_of(u, image);

	if (e && !e->code_fd_plus_1) {
		int fd = naming_unwind_find_code(u->naming,
						 &u->naming->dict->images.at[image]);

		e->code_fd_plus_1 = fd < 0 ? -1 : fd + 1;
	}
	return e && e->code_fd_plus_1 > 0
		       ? fcntl(e->code_fd_plus_1 - 1, F_DUPFD_CLOEXEC, 0)
		       : -ENOENT;
}

size_t naming_unwind_code(void *unwind, uint32_t image, uint64_t offset,
			  uint8_t *ret_bytes, size_t len)
{
	struct naming_unwind *u = unwind;

	return code_blocks_read(&u->code, image, offset, ret_bytes, len);
}

int naming_unwind_new(struct naming *n, struct naming_unwind **ret_unwind)
{
	*ret_unwind = calloc(1, sizeof(**ret_unwind));
	if (!*ret_unwind)
		return -ENOMEM;
	(*ret_unwind)->naming = n;
	(*ret_unwind)->code =
		(struct code_blocks){ .open_image = naming_unwind_open_code,
				      .ctx = *ret_unwind };
	return 0;
}

void naming_unwind_free(struct naming_unwind *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->entries.nr; i++) {
		unwind_table_free(u->entries.at[i].table);
		if (u->entries.at[i].code_fd_plus_1 > 0)
			close(u->entries.at[i].code_fd_plus_1 - 1);
	}
	code_blocks_done(&u->code);
	vec_done(&u->entries);
	free(u);
}

static bool naming_unwind_open_elf(struct elf_file *f, int fd)
{
	if (fd < 0 || elf_file_init_fd(f, fd, NULL))
		return false;
	if (elf_file_sections(f, NULL) == 0)
		return true;
	elf_file_done(f);
	return false;
}

static struct unwind_table *naming_unwind_load(struct naming *n,
					       const struct image *image)
{
	struct unwind_table *table = NULL;
	struct elf_file f, debug;
	struct binary b;
	bool has_debug;

	if (naming_find_binary(n, image, dict_str(n->dict, image->name), &b))
		return NULL;
	if (naming_unwind_open_elf(&f, b.fd)) {
		has_debug = naming_unwind_open_elf(&debug, b.debug_fd);
		/* Without a table, the frame pointer is used. */
		if (unwind_cache_load(naming_locations_cache_dir(n->locations),
				      b.path ? b.path : "", &f,
				      has_debug ? &debug : NULL, &table))
			table = NULL;
		if (has_debug)
			elf_file_done(&debug);
		elf_file_done(&f);
	}
	binary_close(&b);
	return table;
}

static struct unwind_table *load_dump(struct naming *n, const struct image *image)
{
	struct unwind_table *table = NULL;
	struct mapped bytes = { 0 };
	struct jitdump dump;
	char *path = NULL;

	if (naming_open_dump(n, image, &path, &bytes, &dump)) {
		free(path);
		return NULL;
	}
	if (unwind_jit_table(&dump, bytes.bytes, bytes.len,
			     unwind_arch_of_machine(n->info->machine, false), &table))
		table = NULL;
	mapped_release(&bytes);
	jitdump_done(&dump);
	free(path);
	return table;
}

const struct unwind_table *naming_unwind_table(void *unwind, uint32_t image)
{
	struct naming_unwind *u = unwind;
	const struct image *i = &u->naming->dict->images.at[image];
	struct naming_unwind_entry *e = naming_unwind_entry_of(u, image);

	if (!e)
		return NULL;
	if (!e->done && (i->kind == IMAGE_FILE || i->kind == IMAGE_VDSO))
		e->table = naming_unwind_load(u->naming, i);
	if (!e->done && i->kind == IMAGE_JIT)
		e->table = load_dump(u->naming, i);
	e->done = true;
	return e->table;
}
