/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jit_map [MS] - functions in anonymous memory that /tmp/perf-PID.map lists, as JIT compilers
 * do; one function replaces another at the same address. */
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
	/* This memory is reused. */
	fprintf(out, "%lx %zx jit_gamma\n", (unsigned long)(code + 2 * SLOT_BYTES),
		len);
	if (fclose(out))
		work_die(path);
}

int main(int argc, char **argv)
{
	size_t len = (size_t)(__stop_region_template - __start_region_template);
	size_t at =
		(size_t)((uintptr_t)region_work - (uintptr_t)__start_region_template);
	struct work_part parts[] = {
		{ .name = "*JIT*|*anon*,jit_alpha", .weight = 1 },
		{ .name = "*JIT*|*anon*,*beta(int*", .weight = 3 },
		{ .name = "*JIT*|*anon*,jit_gamma", .weight = 6 },
	};
	char *code =
		mmap(NULL, SLOT_BYTES * NR_SLOTS, PROT_READ | PROT_WRITE | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		work_skip("no memory may be written and executed");
	if (len > SLOT_BYTES)
		work_skip("the code is larger than expected");
	for (size_t i = 0; i < NR_SLOTS; i++) {
		memcpy(code + i * SLOT_BYTES, __start_region_template, len);
		parts[i].run = (work_fn)(uintptr_t)(code + i * SLOT_BYTES + at);
	}
	__builtin___clear_cache(code, code + SLOT_BYTES * NR_SLOTS);
	write_map(code, len);
	work_run_parts(parts, NR_SLOTS, work_argument(argc, argv, 1, 2000), 15);
	work_print_shares("image,symbol", parts, NR_SLOTS);
	puts("absent image,symbol *,jit_gone");
	return 0;
}
