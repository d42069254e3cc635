/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_lines_cache.c - two binaries with one build-id and their index files, opened, queried,
 * changed and closed in any order.  Frames are kept and read until their lines are freed, whatever
 * happens to the files in between: a sanitizer finds stale pointers into a file's mapping
 * (base/files/mapped.c).
 *
 * Input: a byte with the number of steps; three bytes for each: the action and its two operands;
 * two bytes with the length of the first binary; the first binary; the second. */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/io.h"
#include "resolve/find/index_cache.h"
#include "resolve/lines/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	NR_BINARIES = 2,
	STEPS_MAX = 48,
	STEP_BYTES = 3,
	KEPT_MAX = 32,
	FRAMES_MAX = 8,
	PATH_BYTES = 320
};

struct binary {
	char path[PATH_BYTES];
	const uint8_t *bytes;
	size_t len;
	struct lines *lines; /* NULL: closed */
	bool is_over;        /* lines_make_index() was called */
	struct line_frame kept[KEPT_MAX];
	size_t nr_kept;
	struct line_symbol_name symbol;
};

struct world {
	char cache[PATH_BYTES];
	struct binary binaries[NR_BINARIES];
};

static volatile size_t seen; /* keeps the compiler from removing reads */

static void read_text(const char *text)
{
	if (text)
		seen += strlen(text);
}

static void read_kept(const struct binary *b)
{
	for (size_t i = 0; i < b->nr_kept; i++) {
		read_text(b->kept[i].name);
		read_text(b->kept[i].file);
		read_text(b->kept[i].decl_file);
	}
	read_text(b->symbol.name);
	read_text(b->symbol.file);
}

static void binary_write(const struct binary *b, const uint8_t *bytes, size_t len)
{
	/* Overwrite it in place, as a compiler might: open mappings see the change. */
	int fd = open(b->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	if (fd < 0)
		abort();
	(void)io_write_all(fd, bytes, len);
	close(fd);
}

static void binary_close(struct binary *b)
{
	read_kept(b);
	lines_free(b->lines);
	b->lines = NULL;
	b->is_over = false;
	b->nr_kept = 0;
	b->symbol = (struct line_symbol_name){ 0 };
}

static void binary_open(const struct world *w, struct binary *b, unsigned int flags)
{
	const struct lines_options options = { .cache_dir = flags & 1 ? NULL : w->cache,
					       .threads = 1 + (flags >> 1 & 1),
					       .no_write = flags & 4,
					       .symbols = !(flags & 8) };

	binary_close(b);
	if (lines_open_path(&options, b->path, &b->lines, NULL))
		b->lines = NULL;
}

static void keep_frames(struct binary *b, uint64_t addr)
{
	struct line_frame frames[FRAMES_MAX];
	struct lines_reach reach;
	size_t nr = lines_find(b->lines, addr, frames, FRAMES_MAX);

	for (size_t i = 0; i < nr && b->nr_kept < KEPT_MAX; i++)
		b->kept[b->nr_kept++] = frames[i];
	if (nr)
		lines_reach(b->lines, &reach);
}

static int see_position(void *ctx, const struct line_position *position)
{
	size_t *left = ctx;

	read_text(position->file);
	return !(*left)--;
}

static int see_source(void *ctx, const char *path)
{
	size_t *left = ctx;

	read_text(path);
	return !(*left)--;
}

/* Damages or truncates the index files, as a disk or another program could. */
static void change_cache(const struct world *w, uint8_t how, uint8_t where)
{
	DIR *dir = opendir(w->cache);
	struct dirent *entry;
	char path[2 * PATH_BYTES];

	while (dir && (entry = readdir(dir))) {
		struct stat st;
		int fd;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", w->cache, entry->d_name);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
			if (fd >= 0)
				close(fd);
			continue;
		}
		if (how & 1)
			(void)!ftruncate(fd, st.st_size * where / 256);
		else
			(void)!pwrite(fd, &how, 1, st.st_size * where / 256);
		close(fd);
	}
	if (dir)
		closedir(dir);
}

enum step {
	STEP_OPEN,
	STEP_CLOSE,
	STEP_FIND,
	STEP_SYMBOL,
	STEP_PREPARE,
	STEP_PREPARE_ALL,
	STEP_STORE,
	STEP_MAKE_INDEX,
	STEP_READ,
	STEP_PURGE,
	STEP_CHANGE_CACHE,
	STEP_SWAP,
	STEP_SHORTEN,
	STEP_RESTORE,
	STEP_ROWS,
	STEP_SOURCES,
	NR_STEPS
};

/* Performs the steps that need no open lines. Returns false for other steps. */
static bool step_files(struct world *w, struct binary *b, const uint8_t *step)
{
	const struct binary *other = &w->binaries[b == &w->binaries[0]];
	size_t removed;

	switch (step[0] / NR_BINARIES % NR_STEPS) {
	case STEP_OPEN:
		binary_open(w, b, step[1]);
		return true;
	case STEP_CLOSE:
		binary_close(b);
		return true;
	case STEP_READ:
		read_kept(b);
		read_kept(other);
		return true;
	case STEP_PURGE:
		(void)index_cache_trim(w->cache, 0, &removed);
		return true;
	case STEP_CHANGE_CACHE:
		change_cache(w, step[1], step[2]);
		return true;
	case STEP_SWAP:
		binary_write(b, other->bytes, other->len);
		return true;
	case STEP_SHORTEN:
		binary_write(b, b->bytes, b->len * step[2] / 256);
		return true;
	case STEP_RESTORE:
		binary_write(b, b->bytes, b->len);
		return true;
	default:
		return false;
	}
}

static void step_lines(struct binary *b, const uint8_t *step)
{
	uint64_t addr = (uint64_t)step[1] << 8 | step[2];
	size_t left = 256;

	switch (step[0] / NR_BINARIES % NR_STEPS) {
	case STEP_FIND:
		keep_frames(b, addr);
		break;
	case STEP_SYMBOL:
		if (!lines_symbol(b->lines, addr, NULL, &b->symbol))
			b->symbol = (struct line_symbol_name){ 0 };
		break;
	case STEP_PREPARE:
		lines_prepare(b->lines, &addr, 1);
		break;
	case STEP_PREPARE_ALL:
		lines_prepare_all(b->lines);
		break;
	case STEP_STORE:
		lines_store(b->lines);
		break;
	case STEP_MAKE_INDEX:
		(void)lines_make_index(b->lines);
		b->is_over = true;
		break;
	case STEP_ROWS:
		(void)lines_rows(b->lines, addr, addr + 4096, see_position, &left);
		break;
	case STEP_SOURCES:
		(void)lines_sources(b->lines, see_source, &left);
		break;
	default:
		break;
	}
}

static void run_steps(struct world *w, const uint8_t *steps, size_t nr)
{
	for (size_t i = 0; i < nr; i++, steps += STEP_BYTES) {
		struct binary *b = &w->binaries[steps[0] % NR_BINARIES];

		if (step_files(w, b, steps))
			continue;
		if (!b->lines)
			binary_open(w, b, 0);
		if (b->lines && !b->is_over)
			step_lines(b, steps);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char top[] = "/tmp/fuzz_lines_cache.XXXXXX";
	struct world w = { 0 };
	const uint8_t *steps = data + 1;
	size_t nr = size ? data[0] % STEPS_MAX : 0;
	size_t head = 1 + nr * STEP_BYTES + 2;
	size_t first;

	if (size < head || !mkdtemp(top))
		return 0;
	first = (size_t)data[head - 2] | (size_t)data[head - 1] << 8;
	if (first > size - head)
		first = size - head;
	w.binaries[0].bytes = data + head;
	w.binaries[0].len = first;
	w.binaries[1].bytes = data + head + first;
	w.binaries[1].len = size - head - first;
	snprintf(w.cache, sizeof(w.cache), "%s/cache", top);
	if (mkdir(w.cache, 0700))
		abort();
	for (size_t i = 0; i < NR_BINARIES; i++) {
		struct binary *b = &w.binaries[i];

		snprintf(b->path, sizeof(b->path), "%s/%c", top, (char)('a' + i));
		binary_write(b, b->bytes, b->len);
	}
	run_steps(&w, steps, nr);
	for (size_t i = 0; i < NR_BINARIES; i++)
		binary_close(&w.binaries[i]);
	(void)io_remove_tree(top);
	return 0;
}
