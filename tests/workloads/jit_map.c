/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jit_map [MS [KIND]] - functions in memory that /tmp/perf-PID.map lists, as JIT compilers do; one
 * function replaces another at the same address. KIND is the memory: "anon"; "memfd"; "shm", a file
 * in /dev/shm; "unlinked", a file that was unlinked; "private", the same, mapped privately. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "work.h"

enum {
	SLOT_BYTES = 512,
	NR_SLOTS = 3
};

/* The linker gives the bounds of a section whose name is an identifier. */
extern const char __start_region_template[], __stop_region_template[];

__attribute__((section("region_template"))) WORK_FUNCTION(region_work)

	static void write_map(const char *code, size_t len)
{
	static const char *const names[NR_SLOTS] = { "jit_alpha",
						     "jit::beta(int, long)",
						     "jit_gone" };
	char path[64];
	FILE *out;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	out = fopen(path, "w");
	if (!out)
		work_die(path);
	for (size_t i = 0; i < NR_SLOTS; i++)
		fprintf(out, "%lx %zx %s\n", (unsigned long)(code + i * SLOT_BYTES),
			len, names[i]);
	/* The memory of jit_gone is reused. */
	fprintf(out, "%lx %zx jit_gamma\n", (unsigned long)(code + 2 * SLOT_BYTES),
		len);
	if (fclose(out))
		work_die(path);
}

/* Returns a file of this kind of memory. */
static int make_file(const char *kind, size_t len)
{
	char path[64];
	int fd;

	if (!strcmp(kind, "memfd")) {
		fd = memfd_create("jit_map", MFD_CLOEXEC);
	} else {
		snprintf(path, sizeof(path), "%s/jit_map-%d",
			 strcmp(kind, "shm") ? "/tmp" : "/dev/shm", (int)getpid());
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	}
	if (fd < 0 || ftruncate(fd, (off_t)len))
		work_die(kind);
	if (strcmp(kind, "memfd") && strcmp(kind, "shm") && unlink(path))
		work_die(path);
	return fd;
}

/* Maps memory twice, as compilers do that never write to executable memory. */
static char *map_twice(const char *kind, size_t len, char **ret_writable)
{
	const bool is_private = !strcmp(kind, "private");
	int fd = make_file(kind, len);
	char *code, path[64];

	*ret_writable = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	code = mmap(NULL, len, PROT_READ | PROT_EXEC,
		    is_private ? MAP_PRIVATE : MAP_SHARED, fd, 0);
	if (!strcmp(kind, "shm")) {
		snprintf(path, sizeof(path), "/dev/shm/jit_map-%d", (int)getpid());
		unlink(path);
	}
	return *ret_writable == MAP_FAILED ? MAP_FAILED : code;
}

/* Returns executable memory, and where it can be written. */
static char *map_code(const char *kind, size_t len, char **ret_writable)
{
	static const char *const files[] = { "memfd", "shm", "unlinked", "private" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!strcmp(kind, files[i]))
			return map_twice(kind, len, ret_writable);
	*ret_writable = mmap(NULL, len, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return *ret_writable;
}

int main(int argc, char **argv)
{
	size_t len = (size_t)(__stop_region_template - __start_region_template);
	size_t at =
		(size_t)((uintptr_t)region_work - (uintptr_t)__start_region_template);
	struct work_part parts[] = {
		{ .name = "*JIT*|*anon*|*jit_map*,jit_alpha", .weight = 1 },
		{ .name = "*JIT*|*anon*|*jit_map*,*beta(int*", .weight = 3 },
		{ .name = "*JIT*|*anon*|*jit_map*,jit_gamma", .weight = 6 },
	};
	char *writable, *code = map_code(argc > 2 ? argv[2] : "anon",
					 SLOT_BYTES * NR_SLOTS, &writable);

	if (code == MAP_FAILED)
		work_skip("no memory may be written and executed");
	if (len > SLOT_BYTES)
		work_skip("the code is larger than expected");
	for (size_t i = 0; i < NR_SLOTS; i++) {
		memcpy(writable + i * SLOT_BYTES, __start_region_template, len);
		parts[i].run = (work_fn)(uintptr_t)(code + i * SLOT_BYTES + at);
	}
	__builtin___clear_cache(code, code + SLOT_BYTES * NR_SLOTS);
	write_map(code, len);
	work_run_parts(parts, NR_SLOTS, work_argument(argc, argv, 1, 2000), 15);
	work_print_shares("image,symbol", parts, NR_SLOTS);
	puts("absent image,symbol *,jit_gone");
	return 0;
}
