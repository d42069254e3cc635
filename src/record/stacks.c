/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "capture/system/process_memory.h"
#include "record/helper/table_account.h"
#include "record/keep/image_store.h"
#include "record/keep/session_dir.h"
#include "record/shared_tables.h"
#include "resolve/elf/build_id.h"
#include "resolve/elf/file.h"
#include "resolve/find/index_cache.h"
#include "resolve/unwind/arch.h"
#include "resolve/unwind/table.h"

enum {
	/* Tables of binaries up to this size take a few milliseconds, so they are made at once. */
	SMALL_BYTES = 1 << 18
};

static const uint64_t trim_ns = 60 * NS_PER_S;
/* When to request refused tables again: after this time, a user's budget (table_budget.c) has
 * recovered by 0.2 s. */
static const uint64_t again_ns = 60 * NS_PER_S;

uint64_t recorder_stacks_regs(const char *machine)
{
	const struct unwind_arch *arch = unwind_arch_of_machine(machine, false);
	uint64_t regs = 0;

	if (!arch)
		return 0;
	for (unsigned int i = 0; i < arch->nr_perf; i++)
		if (i == arch->perf_pc || arch->perf[i] != UNWIND_NO_REG)
			regs |= 1ULL << i;
	return regs;
}

/* Returns a new file descriptor of the image's file, or a negative errno. With a budget, this must
 * be the file itself and not a copy, because the owner of the file is charged. */
static int recorder_stacks_open_image(const struct recorder_stacks *s,
				      const struct image *image, bool *ret_is_copy)
{
	char hex[2 * BUILD_ID_MAX + 1];
	char path[4096];

	*ret_is_copy = !s->maker.budget;
	if (image->kind == IMAGE_FILE)
		return image_store_open(s->files.images, image, ret_is_copy);
	*ret_is_copy = false;
	if (image->kind != IMAGE_VDSO)
		return -ENOENT;
	build_id_to_hex(&image->build_id, hex);
	snprintf(path, sizeof(path), "%s/vdso-%s", s->files.dir->writing, hex);
	return elf_open_regular(path);
}

/* Stores the table of `entry` and charges `user` for its memory. Takes ownership of the table;
 * frees it if memory is short. */
static void set_table(struct recorder_stacks *s, struct stack_table *entry,
		      struct unwind_table *table, uint32_t user)
{
	uint64_t bytes = table ? unwind_table_bytes(table) : 0;

	if (user && shares_add(&s->bytes_of, user, bytes)) {
		unwind_table_free(table);
		return;
	}
	entry->table = table;
	entry->user = user;
	s->bytes += bytes;
}

/* Converts an account (table_account.h) to the user number that shares.h counts by; 0: the
 * system. */
static uint32_t recorder_stacks_user(uint64_t account)
{
	uint32_t user = (uint32_t)(account ^ account >> 32);

	return account == TABLE_ACCOUNT_SYSTEM ? 0 : user ? user : 1;
}

static void take_made(struct recorder_stacks *s, struct stack_table *entry,
		      const struct table_made *made)
{
	set_table(s, entry, made->table, recorder_stacks_user(made->account));
	entry->is_refused = made->is_refused;
	s->any_refused |= made->is_refused;
}

static void drop_table(struct recorder_stacks *s, struct stack_table *entry)
{
	uint64_t bytes = unwind_table_bytes(entry->table);

	s->bytes -= bytes;
	if (entry->user)
		shares_remove(&s->bytes_of, entry->user, bytes);
	unwind_table_free(entry->table);
	entry->table = NULL;
}

/* Sets the table of an image. Uses the one that the previous recording left, if there is one.
 * Otherwise makes the table of a small binary in this thread, and requests that of a large binary,
 * or any table if there is a helper, from the thread of the table maker. */
static void recorder_stacks_make(struct recorder_stacks *s, uint32_t image,
				 struct stack_table *entry)
{
	const struct image *i = &s->dict->images.at[image];
	const char *path = dict_str(s->dict, i->name);
	struct table_made made;
	bool is_copy;
	int fd;

	if (s->shared) {
		uint32_t user = 0;
		struct unwind_table *table = shared_tables_take(s->shared, i, &user);

		set_table(s, entry, table, user);
	}
	fd = entry->table ? -1 : recorder_stacks_open_image(s, i, &is_copy);
	if (fd < 0)
		return;
	entry->is_due = (s->maker.helper || i->file_bytes > SMALL_BYTES) &&
			!table_maker_ask(&s->maker, image, fd, path, !is_copy);
	if (entry->is_due)
		return;
	table_maker_make(&s->maker, fd, path, &made);
	take_made(s, entry, &made);
	close(fd);
}

static const struct unwind_table *table_of(void *ctx, uint32_t image)
{
	struct recorder_stacks *s = ctx;
	struct stack_table *entry;

	while (s->tables.nr <= image)
		if (!vec_push(&s->tables, (struct stack_table){ 0 }))
			return NULL;
	entry = &s->tables.at[image];
	if (!entry->looked)
		recorder_stacks_make(s, image, entry);
	entry->looked = true;
	entry->is_used = true;
	if (!entry->is_due || s->hurried)
		return entry->table;
	s->missing = image;
	return resolver_table_later();
}

static const struct unwind_table *jit_table_of(void *ctx, uint32_t image,
					       uint64_t *offset, uint64_t time_ns)
{
	struct recorder_stacks *s = ctx;
	const struct unwind_table *table;

	if (jit_tables_find(&s->jit, &s->dict->images.at[image], offset, time_ns,
			    &table) == JIT_TABLE_KNOWN ||
	    s->hurried)
		return table;
	s->missing = image;
	return resolver_table_later();
}

bool recorder_stacks_take_tables(struct recorder_stacks *s, uint64_t until_ns)
{
	struct table_made made;
	bool any = jit_tables_read(&s->jit, until_ns);

	s->any_dump_read = any;
	if (any)
		until_ns = 0;

	while (table_maker_take(&s->maker, until_ns, &made)) {
		take_made(s, &s->tables.at[made.image], &made);
		s->tables.at[made.image].is_due = false;
		any = true;
		until_ns = 0;
	}
	return any;
}

void recorder_stacks_hurry(struct recorder_stacks *s, bool hurried)
{
	s->hurried = hurried;
}

bool recorder_stacks_is_making(const struct recorder_stacks *s)
{
	return s->maker.nr;
}

bool recorder_stacks_have(const struct recorder_stacks *s, uint32_t image)
{
	if (s->dict->images.at[image].kind == IMAGE_ANON)
		return s->hurried || s->any_dump_read;
	return s->hurried || image >= s->tables.nr || !s->tables.at[image].is_due;
}

static size_t copy_memory(void *ctx, int32_t pid, uint64_t address, void *bytes,
			  size_t len)
{
	(void)ctx;
	return process_memory_read(pid, address, bytes, len);
}

/* Opens the code of an image for unwinding without a table. Refused if there is a helper, because
 * then only the helper may read binaries, which any user can write. */
static int recorder_stacks_open_code(void *ctx, uint32_t image)
{
	const struct recorder_stacks *s = ctx;
	bool is_copy;

	return s->maker.helper ? -EACCES
			       : recorder_stacks_open_image(
					 s, &s->dict->images.at[image], &is_copy);
}

static size_t recorder_stacks_code(void *ctx, uint32_t image, uint64_t offset,
				   uint8_t *ret_bytes, size_t len)
{
	struct recorder_stacks *s = ctx;

	return code_blocks_read(&s->code, image, offset, ret_bytes, len);
}

int recorder_stacks_open(struct recorder_stacks *s, struct resolver *resolver,
			 const struct dict *dict, const struct recorder_files *files,
			 const char *machine)
{
	const struct resolver_unwind unwind = {
		.table = table_of,
		.code = recorder_stacks_code,
		.copy = copy_memory,
		.ctx = s,
		.jit_table = jit_table_of,
		.jit_ctx = s,
		.machine = machine,
	};

	*s = (struct recorder_stacks){ .dict = dict, .files = *files };
	s->jit.store = files->jit;
	s->jit.arch = unwind_arch_of_machine(machine, false);
	s->code = (struct code_blocks){ .open_image = recorder_stacks_open_code,
					.ctx = s };
	s->cache_dir = index_cache_dir();
	s->maker.cache_dir = s->cache_dir;
	return resolver_use_unwind(resolver, &unwind);
}

void recorder_stacks_share(struct recorder_stacks *s, struct shared_tables *shared)
{
	s->shared = shared;
	s->maker.helper = shared->helper;
	s->maker.budget = shared->budget;
	/* With a helper, files of users must not be read in this process; jitdumps, which the
	 * helper does not read, stay unread. */
	if (shared->helper)
		s->jit.store = NULL;
}

/* ---- bounds ---- */

static void drop_unused(struct recorder_stacks *s)
{
	for (size_t i = 0; i < s->tables.nr; i++) {
		struct stack_table *entry = &s->tables.at[i];

		if (entry->table && !entry->is_used) {
			drop_table(s, entry);
			entry->looked = false;
		}
		entry->is_used = false;
	}
}

/* Returns the user who has to give up tables; 0: the system. */
static uint32_t recorder_stacks_giver(const struct recorder_stacks *s)
{
	bool is_user = s->bytes_of.total > s->shared->max_bytes / 2;

	return is_user ? shares_giver(&s->bytes_of, 0, 0) : 0;
}

/* Drops one unused table of the user, which is made again if needed. Returns false if there is
 * none. */
static bool drop_unused_of(struct recorder_stacks *s, uint32_t user)
{
	for (size_t i = 0; i < s->tables.nr; i++) {
		struct stack_table *entry = &s->tables.at[i];

		if (!entry->table || entry->is_used || entry->user != user)
			continue;
		drop_table(s, entry);
		entry->looked = false;
		return true;
	}
	return false;
}

static bool drop_largest_of(struct recorder_stacks *s, uint32_t user, uint64_t now_ns)
{
	size_t largest = s->tables.nr;
	uint64_t bytes = 0;

	for (size_t i = 0; i < s->tables.nr; i++) {
		const struct unwind_table *table = s->tables.at[i].table;

		if (!table || s->tables.at[i].user != user ||
		    unwind_table_bytes(table) <= bytes)
			continue;
		bytes = unwind_table_bytes(table);
		largest = i;
	}
	if (largest == s->tables.nr)
		return false;
	if (now_ns >= s->shared->next_report_ns)
		log_say(LOG_NOTE,
			"'%s': its unwind table of %llu kB does not fit into the memory limit for tables: falling back to frame pointers for this binary",
			dict_str(s->dict, s->dict->images.at[largest].name),
			(unsigned long long)bytes >> 10);
	s->shared->next_report_ns = now_ns + trim_ns;
	drop_table(s, &s->tables.at[largest]);
	return true;
}

static bool recorder_stacks_ask_again(struct recorder_stacks *s, uint64_t now_ns)
{
	if (!s->any_refused)
		return false;
	if (!s->next_again_ns)
		s->next_again_ns = now_ns + again_ns;
	if (now_ns < s->next_again_ns)
		return false;
	for (size_t i = 0; i < s->tables.nr; i++) {
		struct stack_table *entry = &s->tables.at[i];

		entry->looked &= !entry->is_refused;
		entry->is_refused = false;
	}
	s->any_refused = false;
	s->next_again_ns = 0;
	return true;
}

static bool trim_bytes(struct recorder_stacks *s, uint64_t now_ns)
{
	uint64_t max = s->shared ? s->shared->max_bytes : 0;
	bool any = s->bytes > max;

	if (!max || s->bytes + s->shared->kept_bytes <= max / 2)
		return false;
	shared_tables_forget(s->shared);
	if (s->bytes <= max / 2)
		return false;
	if (now_ns >= s->next_trim_ns) {
		s->next_trim_ns = now_ns + trim_ns;
		drop_unused(s);
		any = true;
	}
	while (s->bytes > max) {
		uint32_t user = recorder_stacks_giver(s);

		if (!drop_unused_of(s, user) && !drop_largest_of(s, user, now_ns))
			break;
	}
	return any;
}

bool recorder_stacks_trim(struct recorder_stacks *s, uint64_t now_ns)
{
	bool again = recorder_stacks_ask_again(s, now_ns);

	return trim_bytes(s, now_ns) || again;
}

/* Moves the tables to `shared` for the next recording, after freeing the tables there that this
 * recording did not take. */
static void leave_tables(struct recorder_stacks *s)
{
	shared_tables_forget(s->shared);
	for (size_t i = 0; i < s->tables.nr; i++) {
		shared_tables_keep(s->shared, &s->dict->images.at[i],
				   s->tables.at[i].table, s->tables.at[i].user);
		s->tables.at[i].table = NULL;
	}
}

void recorder_stacks_done(struct recorder_stacks *s)
{
	table_maker_done(&s->maker);
	jit_tables_done(&s->jit);
	code_blocks_done(&s->code);
	free(s->cache_dir);
	if (s->shared)
		leave_tables(s);
	for (size_t i = 0; i < s->tables.nr; i++)
		unwind_table_free(s->tables.at[i].table);
	vec_done(&s->tables);
	shares_done(&s->bytes_of);
}
