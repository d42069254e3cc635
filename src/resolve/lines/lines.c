/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/lines/lines.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/hash.h"
#include "base/err.h"
#include "base/files/trust.h"
#include "base/log.h"
#include "resolve/elf/build_id.h"
#include "resolve/find/index_cache.h"
#include "resolve/lines/later.h"
#include "resolve/lines/priv.h"
#include "resolve/lines/writers.h"

static bool has_debug_file(const struct lines *l)
{
	return l->file.debug_fd >= 0;
}

/* Returns whether the build-id identifies the content of the file. It does not if another user
 * could have chosen it, because anyone can link a program with the build-id of another one. */
static bool is_build_id_proof(const struct lines *l)
{
	return trust_is_original(l->file.fd, l->path) &&
	       (!has_debug_file(l) || trust_is_exclusive(l->file.debug_fd));
}

static bool mix_file(uint64_t hashes[2], int fd)
{
	struct stat st;

	/* A file that was decompressed in memory is a different file each time. */
	if (fstat(fd, &st) || !st.st_nlink)
		return false;
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t facts[] = {
			(uint64_t)st.st_dev,          (uint64_t)st.st_ino,
			(uint64_t)st.st_size,         (uint64_t)st.st_mtim.tv_sec,
			(uint64_t)st.st_mtim.tv_nsec, (uint64_t)st.st_ctim.tv_sec,
			(uint64_t)st.st_ctim.tv_nsec, hashes[i]
		};

		hashes[i] = hash_bytes(facts, sizeof(facts), i);
	}
	return true;
}

/* Makes a key of the unchanged file; a copy has another key. */
static void take_file_key(struct lines *l)
{
	uint64_t hashes[2];

	for (unsigned int i = 0; i < 2; i++)
		hashes[i] = hash_bytes(l->path, strlen(l->path), i);
	if (!mix_file(hashes, l->file.fd) ||
	    (has_debug_file(l) && !mix_file(hashes, l->file.debug_fd)))
		return;
	static_assert(sizeof(hashes) <= INDEX_KEY_MAX, "no room");
	memcpy(l->key.bytes, hashes, sizeof(hashes));
	l->key.len = sizeof(hashes);
}

static void lines_take_key(struct lines *l)
{
	struct build_id id;

	if (!is_build_id_proof(l) || elf_build_id_fd(l->file.fd, &id, NULL) ||
	    !id.len || id.len > INDEX_KEY_MAX) {
		take_file_key(l);
		return;
	}
	memcpy(l->key.bytes, id.bytes, id.len);
	l->key.len = id.len;
	l->key.is_build_id = true;
}

/* Opens the debug information, in the separate file if there is one. */
static int lines_open_source(struct lines *l, struct err *err)
{
	bool debug = has_debug_file(l);
	int r;

	if (l->source_open)
		return 0;
	if (l->source_failed)
		return -EBADMSG;
	r = line_source_open(&l->source, debug ? l->file.debug_fd : l->file.fd,
			     debug ? l->debug_path : l->path, l->path, err);
	if (!r) {
		r = line_source_open_go(&l->source, l->file.fd);
		if (r)
			line_source_close(&l->source);
	}
	if (r) {
		l->source_failed = true;
		return r;
	}
	l->source_open = true;
	l->stats.alt_missing = l->source.alt_missing;
	return 0;
}

static bool fits_source(const struct lines *l)
{
	if (l->dir.units.nr != line_source_count_units(&l->source))
		return false;
	for (size_t i = 0; i < l->dir.units.nr; i++) {
		if (l->dir.units.at[i].off != line_source_unit_off(&l->source, i))
			return false;
	}
	return true;
}

static void free_content(struct line_content *c)
{
	for (size_t i = 0; i < c->dir.units.nr; i++)
		free(c->dir.units.at[i].owned);
	line_directory_done(&c->dir);
	line_index_close(&c->index);
	free(c->symbols_bytes);
}

static struct line_content take_content(struct lines *l)
{
	struct line_content c = { l->index, l->dir, l->symbols_bytes };

	l->index = (struct line_index){ 0 };
	l->dir = (struct line_directory){ 0 };
	l->symbols_bytes = NULL;
	return c;
}

/* Starts again without the index. Happens at most once, when the debug information is opened. */
static void retire_content(struct lines *l)
{
	l->retired = take_content(l);
	l->has_dir = false;
	l->block_open = false;
	l->chain_nr = 0;
	l->cover_high = 0;
	l->symbols_open = false;
	l->symbols_tried = false;
}

int lines_need_source(struct lines *l, struct err *err)
{
	bool was_open = l->source_open;
	int r = lines_open_source(l, err);

	if (r || was_open)
		return r;
	/* An index with the same key but other units belongs to another file. */
	if (l->has_dir && !fits_source(l))
		retire_content(l);
	/* With an index, only the requested units are read. */
	r = l->has_dir ? 0 : l->source.go ? lines_scan_go(l) : lines_scan(l);
	return r ? err_set(err, r, "out of memory") : 0;
}

static int take_names(struct lines *l, const struct lines_options *o,
		      const struct lines_file *file)
{
	l->options = *o;
	l->options.cache_dir = NULL;
	l->file = *file;
	l->path = strdup(file->path ? file->path : "");
	if (!l->path)
		return -ENOMEM;
	if (file->debug_path) {
		l->debug_path = strdup(file->debug_path);
		if (!l->debug_path)
			return -ENOMEM;
	}
	l->file.path = l->path;
	l->file.debug_path = l->debug_path;
	if (o->cache_dir && *o->cache_dir) {
		l->cache_dir = strdup(o->cache_dir);
		if (!l->cache_dir)
			return -ENOMEM;
	}
	return 0;
}

/* Takes over the data that another object has read of this binary and not written yet. Returns
 * false if no object has left data of it. */
static bool take_left(struct lines *l)
{
	struct lines *left =
		l->options.later ? line_later_give(l->options.later, &l->key) : NULL;
	struct line_content c;

	if (!left)
		return false;
	c = take_content(left);
	l->index = c.index;
	l->dir = c.dir;
	l->symbols_bytes = c.symbols_bytes;
	l->unsaved_bytes = left->unsaved_bytes;
	l->grew = left->grew;
	left->unsaved_bytes = 0;
	lines_free(left);
	return true;
}

static int open_index(struct lines *l)
{
	int r;

	if (!l->cache_dir)
		return -ENOENT;
	lines_take_key(l);
	if (!l->key.len)
		return -ENOENT;
	l->index_path = index_cache_lines_path(l->cache_dir, &l->key);
	if (!l->index_path)
		return -ENOMEM;
	r = take_left(l) ? 0
			 : line_index_open(&l->index, l->index_path, &l->key, &l->dir);
	/* Another command is writing the index of this binary: waiting for it is faster than
	 * reading the debug information. */
	if (r == -ENOENT && line_writers_wait(l->cache_dir, &l->key))
		r = line_index_open(&l->index, l->index_path, &l->key, &l->dir);
	l->has_dir = !r;
	l->stats.index_found = !r;
	return r;
}

/* Reads the class and type of the file, which are also needed with an index. */
static int lines_take_head(struct lines *l, struct err *err)
{
	struct elf_file f;
	int r = elf_file_init_fd(&f, l->file.fd, err);

	if (r)
		return r;
	l->is_rel = f.type == ET_REL;
	l->addr_bytes = f.is64 ? 8 : 4;
	elf_file_done(&f);
	return 0;
}

int lines_open(const struct lines_options *o, const struct lines_file *file,
	       struct lines **ret_lines, struct err *err)
{
	struct lines *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return err_set(err, -ENOMEM, "out of memory");
	l->source.alt_fd = -1;
	l->source.dwp_fd = -1;
	l->unit = LINE_NO_UNIT;
	r = take_names(l, o, file);
	if (r)
		err_set(err, r, "out of memory");
	if (!r)
		r = lines_take_head(l, err);
	if (!r && open_index(l))
		r = lines_need_source(l, err);
	if (r) {
		lines_free(l);
		return r;
	}
	l->stats.units = l->dir.units.nr;
	*ret_lines = l;
	return 0;
}

/* Closes everything except the content for the index file. */
static void lines_close_source(struct lines *l)
{
	if (l->source_open)
		line_source_close(&l->source);
	l->source_open = false;
	vec_done(&l->todo);
	if (l->own_fds) {
		close(l->file.fd);
		if (l->file.debug_fd >= 0)
			close(l->file.debug_fd);
	}
	l->own_fds = false;
}

void lines_free(struct lines *l)
{
	struct line_content c;

	if (!l)
		return;
	if (lines_leave(l)) {
		lines_close_source(l);
		return;
	}
	lines_store(l);
	lines_save_wait(l);
	c = take_content(l);
	free_content(&c);
	free_content(&l->retired);
	lines_close_source(l);
	free(l->cache_dir);
	free(l->index_path);
	free(l->path);
	free(l->debug_path);
	free(l);
}

int lines_open_path(const struct lines_options *o, const char *path,
		    struct lines **ret_lines, struct err *err)
{
	struct lines_file file = { .path = path, .debug_fd = -1 };
	char *debug_path = NULL;
	int r;

	file.fd = elf_open_regular(path);
	if (file.fd == -EINVAL)
		return err_set(err, -EINVAL, "not a regular file");
	if (file.fd < 0)
		return err_sys(err, file.fd, "cannot open");
	r = lines_debug_file(file.fd, path, &file.debug_fd, &debug_path);
	file.debug_path = debug_path;
	/* If the file is unusable, lines_open() reports the error. */
	r = r == -ENOMEM ? r : lines_open(o, &file, ret_lines, err);
	free(debug_path);
	if (!r) {
		(*ret_lines)->own_fds = true;
		return 0;
	}
	close(file.fd);
	if (file.debug_fd >= 0)
		close(file.debug_fd);
	return r;
}

bool lines_has_info(const struct lines *l)
{
	return l->dir.units.nr != 0;
}

void lines_stats(const struct lines *l, struct lines_stats *ret_stats)
{
	*ret_stats = l->stats;
}

bool lines_is_relocatable(const struct lines *l)
{
	return l->is_rel;
}

unsigned int lines_addr_bytes(const struct lines *l)
{
	return l->addr_bytes;
}

int lines_position(struct lines *l, const char *section, uint64_t off,
		   uint64_t *ret_addr)
{
	int r = lines_need_source(l, NULL);

	return r ? r : dwarf_file_position(&l->source.file, section, off, ret_addr);
}

/* Reads the symbols of the debug file; if there is no debug file, or it has no symbols, those of
 * the binary. */
static int make_symbols(struct lines *l)
{
	struct line_unit *u = &l->dir.symbols;
	struct buf out = { 0 };
	struct elf_file binary;
	int r = lines_need_source(l, NULL);

	if (r)
		return r;
	r = line_symbols_make(&l->source.file.elf, &l->source.file, &out);
	if (r == -ENODATA && has_debug_file(l)) {
		r = elf_file_init_fd(&binary, l->file.fd, NULL);
		if (!r) {
			r = elf_file_sections(&binary, NULL);
			if (!r)
				r = line_symbols_make(&binary, NULL, &out);
			elf_file_done(&binary);
		}
	}
	if (r) {
		buf_done(&out);
		return r;
	}
	l->symbols_bytes = out.data;
	*u = (struct line_unit){ .block = out.data,
				 .len = (uint32_t)out.len,
				 .hash = hash_bytes(out.data, out.len, 0),
				 .state = LINE_UNIT_READY,
				 .keep = true };
	return 0;
}

bool lines_need_symbols(struct lines *l)
{
	struct line_unit *u = &l->dir.symbols;

	if (l->symbols_tried)
		return l->symbols_open;
	l->symbols_tried = true;
	if (!line_index_check(u) && make_symbols(l))
		return false;
	u = &l->dir.symbols;
	l->symbols_open = !line_symbols_open(&l->symbols, u->block, u->len);
	return l->symbols_open;
}

uint32_t lines_unit_at(struct lines *l, uint64_t addr)
{
	if (addr < l->cover_low || addr >= l->cover_high)
		l->cover_unit = line_directory_find(&l->dir, addr, &l->cover_low,
						    &l->cover_high);
	return l->cover_unit;
}

static bool lines_is_known(struct line_unit *u)
{
	return u->state == LINE_UNIT_FAILED || line_index_check(u);
}

/* Reads the units in todo. */
static void build_todo(struct lines *l)
{
	size_t nr = l->dir.units.nr;

	if (!l->todo.nr)
		return;
	lines_save_wait(l);
	if (lines_need_source(l, NULL) || l->dir.units.nr != nr)
		return;
	if (l->options.symbols)
		lines_need_symbols(l);
	(void)lines_build(l);
	l->todo.nr = 0;
}

void lines_prepare(struct lines *l, const uint64_t *addrs, size_t nr)
{
	uint32_t last = LINE_NO_UNIT;
	uint8_t *seen = calloc(1, l->dir.units.nr + 1);

	l->todo.nr = 0;
	for (size_t i = 0; seen && i < nr; i++) {
		uint32_t unit = lines_unit_at(l, addrs[i]);

		if (unit == LINE_NO_UNIT || unit == last || seen[unit])
			continue;
		last = unit;
		seen[unit] = 1;
		/* Units in the index are checked when they are used, which also brings them
		 * into the CPU's cache. */
		if (l->dir.units.at[unit].state == LINE_UNIT_ABSENT &&
		    !vec_push(&l->todo, unit))
			break;
	}
	free(seen);
	build_todo(l);
}

size_t lines_list_absent(struct lines *l)
{
	uint8_t *seen = calloc(1, l->dir.units.nr + 1);

	l->todo.nr = 0;
	for (size_t i = 0; seen && i < l->dir.covers.nr; i++) {
		uint32_t unit = l->dir.covers.at[i].unit;

		if (unit == LINE_NO_UNIT || seen[unit])
			continue;
		seen[unit] = 1;
		if (!lines_is_known(&l->dir.units.at[unit]) &&
		    !vec_push(&l->todo, unit))
			break;
	}
	free(seen);
	return l->todo.nr;
}

void lines_prepare_all(struct lines *l)
{
	if (lines_list_absent(l))
		build_todo(l);
}

const struct line_block *lines_block_at(struct lines *l, uint64_t addr)
{
	uint32_t number = lines_unit_at(l, addr);
	struct line_unit *u;

	if (number == LINE_NO_UNIT)
		return NULL;
	if (l->block_open && l->unit == number)
		return &l->block;
	u = &l->dir.units.at[number];
	if (!lines_is_known(u))
		lines_prepare(l, &addr, 1);
	/* Opening the debug information may have replaced a damaged index. */
	number = lines_unit_at(l, addr);
	if (number == LINE_NO_UNIT)
		return NULL;
	u = &l->dir.units.at[number];
	l->chain_nr = 0;
	l->block_open = u->state == LINE_UNIT_READY &&
			!line_block_open(&l->block, u->block, u->len);
	line_seek_begin(&l->seek, &l->block);
	l->unit = number;
	return l->block_open ? &l->block : NULL;
}

bool lines_symbol(struct lines *l, uint64_t addr, const char *wanted,
		  struct line_symbol_name *ret_symbol)
{
	struct line_symbol sym;

	if (!lines_need_symbols(l) ||
	    !line_symbols_find(&l->symbols, addr, wanted, &sym))
		return false;
	*ret_symbol =
		(struct line_symbol_name){ sym.name, sym.file, sym.addr, sym.size };
	return true;
}
