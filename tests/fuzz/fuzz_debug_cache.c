/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_debug_cache.c - a cache with wrong, dangling and looping links: a lookup finds only the
 * requested file, and removing from the cache changes nothing outside.  The directory is made
 * from lines, each with a letter, a path in it, and its contents:
 *
 * 	d PATH            a directory
 * 	l PATH|TEXT       a symbolic link
 * 	f PATH|TEXT       a file with this text
 * 	e PATH            an ELF file with the requested build-id, abcdef01
 * 	o PATH            an ELF file with another build-id
 * 	p PATH            a pipe
 *
 * The same directory is also searched as the debuginfod client's cache. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/files/io.h"
#include "resolve/elf/build_id.h"
#include "resolve/find/debug_cache.h"
#include "resolve/find/debug_cache_store.h"
#include "resolve/find/debuginfod_cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	LINES_MAX = 64,
	LINE_MAX_BYTES = 512
};

static const struct build_id wanted = { 4, { 0xab, 0xcd, 0xef, 0x01 } };

/* The smallest file with a build-id. */
struct small_elf {
	Elf64_Ehdr head;
	Elf64_Phdr segment;
	Elf64_Nhdr note;
	char owner[4];
	uint8_t id[4];
};

static struct small_elf make_elf(uint8_t last)
{
	return (struct small_elf){
		.head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
				       __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
					       ? ELFDATA2LSB
					       : ELFDATA2MSB,
				       EV_CURRENT },
			  .e_type = ET_DYN,
			  .e_version = EV_CURRENT,
			  .e_phoff = offsetof(struct small_elf, segment),
			  .e_ehsize = sizeof(Elf64_Ehdr),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 1 },
		.segment = { .p_type = PT_NOTE,
			     .p_offset = offsetof(struct small_elf, note),
			     .p_filesz = sizeof(Elf64_Nhdr) + 8,
			     .p_align = 4 },
		.note = { 4, 4, NT_GNU_BUILD_ID },
		.owner = "GNU",
		.id = { 0xab, 0xcd, 0xef, last },
	};
}

/* Opens the directory that contains `path`. Creates it if necessary and follows no link.
 * *ret_name becomes the last component of the path. */
static int open_parent(int cache, char *path, const char **ret_name)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS };
	int at = dup(cache);

	for (;;) {
		char *slash = strchr(path, '/');
		int next;

		*ret_name = path;
		if (at < 0 || !slash)
			return at;
		*slash = '\0';
		(void)mkdirat(at, path, 0755);
		next = (int)syscall(SYS_openat2, at, path, &how, sizeof(how));
		close(at);
		at = next;
		path = slash + 1;
	}
}

static void make_file(int at, const char *name, const void *bytes, size_t len)
{
	int fd = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return;
	(void)io_write_all(fd, bytes, len);
	close(fd);
}

static void make_thing(int cache, char *line)
{
	char *path = line + 2;
	char *text = strchr(path, '|');
	const struct small_elf right = make_elf(0x01);
	const struct small_elf other = make_elf(0x02);
	const char *name;
	int at;

	if (line[0] == '\0' || line[1] != ' ')
		return;
	if (text)
		*text++ = '\0';
	else
		text = path + strlen(path);
	at = open_parent(cache, path, &name);
	if (at < 0)
		return;
	if (line[0] == 'd')
		(void)mkdirat(at, name, 0755);
	else if (line[0] == 'l')
		(void)!symlinkat(text, at, name);
	else if (line[0] == 'f')
		make_file(at, name, text, strlen(text));
	else if (line[0] == 'e')
		make_file(at, name, &right, sizeof(right));
	else if (line[0] == 'o')
		make_file(at, name, &other, sizeof(other));
	else if (line[0] == 'p')
		(void)mkfifoat(at, name, 0644);
	close(at);
}

static void make_things(int cache, const uint8_t *data, size_t size)
{
	char line[LINE_MAX_BYTES];

	for (size_t nr = 0; size && nr < LINES_MAX; nr++) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t len = end ? (size_t)(end - data) : size;
		size_t taken = len < sizeof(line) ? len : sizeof(line) - 1;

		memcpy(line, data, taken);
		line[taken] = '\0';
		make_thing(cache, line);
		len += end != NULL;
		data += len;
		size -= len;
	}
}

/* Checks that the result is the requested file. */
static void check(int r, int fd, char *path, bool has_id)
{
	struct build_id id;
	struct stat st;

	if (r)
		return;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !path)
		abort();
	if (has_id && (elf_build_id_fd(fd, &id, NULL) || !build_id_equal(&id, &wanted)))
		abort();
	close(fd);
	free(path);
}

static void look_up(const char *dir)
{
	static const char *const names[] = { NULL, "/bin/prog", "[vdso]", "../outside",
					     "" };
	struct debuginfod_want want = { .id = wanted };
	debug_cache_entries entries;
	debug_cache_paths paths;
	char *path;
	int fd;

	for (int part = 0; part < DEBUG_CACHE_PARTS; part++)
		for (size_t i = 0; i < COUNT_OF(names); i++) {
			int r = debug_cache_open(dir, &wanted, part, names[i], &fd,
						 &path);

			check(r, fd, path, part != DEBUG_CACHE_KALLSYMS);
		}
	if (!debug_cache_kallsyms(dir, &wanted, &paths))
		debug_cache_paths_done(&paths);
	if (!debug_cache_list(dir, &entries))
		debug_cache_entries_done(&entries);
	for (int kind = 0; kind < DEBUGINFOD_SOURCE; kind++) {
		int r;

		want.kind = kind;
		r = debuginfod_cache_open(dir, &want, &fd, &path);
		check(r, fd, path, true);
	}
	debuginfod_cache_sweep(dir);
}

static void change(const char *dir, const char *outside)
{
	const struct debuginfod_want want = { .id = wanted };
	struct stat st;

	debuginfod_cache_miss(dir, &want);
	(void)debug_cache_add_bytes(dir, &wanted, DEBUG_CACHE_VDSO, "[vdso]", "x", 1);
	(void)debug_cache_remove(dir, &wanted);
	if (stat(outside, &st) || st.st_size != 4)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char top[] = "/tmp/fuzz_debug_cache.XXXXXX";
	char dir[sizeof(top) + 16], outside[sizeof(top) + 16];
	int cache;

	if (!mkdtemp(top))
		return 0;
	snprintf(dir, sizeof(dir), "%s/cache", top);
	snprintf(outside, sizeof(outside), "%s/outside", top);
	if (mkdir(dir, 0755) || io_write_file(outside, "keep", 4, 0644))
		abort();
	cache = io_open(dir, O_RDONLY | O_DIRECTORY, 0);
	if (cache < 0)
		abort();
	make_things(cache, data, size);
	close(cache);
	look_up(dir);
	change(dir, outside);
	(void)io_remove_tree(top);
	return 0;
}
