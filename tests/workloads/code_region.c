/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code_region [MS] - compares code in anonymous memory, like that of a JIT compiler, with a
 * function of the program. The code is a copy of a function that uses only registers. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "work.h"

/* The linker gives the bounds of a section whose name is an identifier. */
extern const char __start_region_template[], __stop_region_template[];

__attribute__((section("region_template"))) WORK_FUNCTION(region_work)
	WORK_FUNCTION(static_work)

		int main(int argc, char **argv)
{
	size_t len = (size_t)(__stop_region_template - __start_region_template);
	size_t at =
		(size_t)((uintptr_t)region_work - (uintptr_t)__start_region_template);
	struct work_part parts[] = {
		{ .name = "*JIT*|*anon*|/tmp/perf-*.map,*", .weight = 3 },
		{ .name = "*/code_region,static_work",
		  .run = static_work,
		  .weight = 1 },
	};
	char *code = mmap(NULL, len, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		work_die("mmap");
	memcpy(code, __start_region_template, len);
	if (mprotect(code, len, PROT_READ | PROT_EXEC))
		work_die("mprotect");
	__builtin___clear_cache(code, code + len);
	parts[0].run = (work_fn)(uintptr_t)(code + at);
	work_run_parts(parts, 2, work_argument(argc, argv, 1, 2000), 15);
	work_print_shares("image,symbol", parts, 2);
	puts("absent image,symbol */code_region,region_work");
	return 0;
}
