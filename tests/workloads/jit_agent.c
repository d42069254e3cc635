/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jit_agent [MS] - code that libopagent reports: two functions that replace each other at the
 * same address, with an unload in between. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "opagent/opagent.h"
#include "work.h"

enum {
	CODE_BYTES = 512
};

extern const char __start_region_template[], __stop_region_template[];

__attribute__((section("region_template"))) WORK_FUNCTION(region_work)

	static struct {
	op_agent_t agent;
	char *code;
	size_t len; /* of the template */
	size_t at;  /* of the function in it */
	char loaded;
} jit;

static void load(const char *name, bool with_bytes)
{
	struct debug_line_info lines[] = { { (uintptr_t)jit.code, 11, "agent.lang" },
					   { (uintptr_t)jit.code + 8, 12,
					     "agent.lang" } };
	uint64_t vma = (uintptr_t)jit.code;

	if (jit.loaded && op_unload_native_code(jit.agent, vma))
		work_die("op_unload_native_code");
	memcpy(jit.code, __start_region_template, jit.len);
	__builtin___clear_cache(jit.code, jit.code + jit.len);
	if (op_write_native_code(jit.agent, name, vma, with_bytes ? jit.code : NULL,
				 (unsigned int)jit.len))
		work_die("op_write_native_code");
	if (op_write_debug_line_info(jit.agent, jit.code, 2, lines))
		work_die("op_write_debug_line_info");
	jit.loaded = name[0];
}

static void run(uint64_t rounds)
{
	((work_fn)(uintptr_t)(jit.code + jit.at))(rounds);
}

static void run_first(uint64_t rounds)
{
	if (jit.loaded != 'a')
		load("agent_first", true);
	run(rounds);
}

static void run_second(uint64_t rounds)
{
	if (jit.loaded != 't')
		load("the_agents_second", false);
	run(rounds);
}

int main(int argc, char **argv)
{
	struct work_part parts[] = {
		{ .name = "*JIT*|*.jo,agent_first", .run = run_first, .weight = 1 },
		{ .name = "*JIT*|*.jo,the_agents_second",
		  .run = run_second,
		  .weight = 3 },
	};

	jit.len = (size_t)(__stop_region_template - __start_region_template);
	jit.at = (size_t)((uintptr_t)region_work - (uintptr_t)__start_region_template);
	jit.code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (jit.code == MAP_FAILED)
		work_skip("no memory may be written and executed");
	if (jit.len > CODE_BYTES)
		work_skip("the code is larger than expected");
	jit.agent = op_open_agent();
	if (!jit.agent)
		work_die("op_open_agent");
	if (op_major_version() != 1 || op_unload_native_code(NULL, 0) != -1)
		work_die("libopagent");
	work_run_parts(parts, 2, work_argument(argc, argv, 1, 2000), 25);
	if (op_close_agent(jit.agent))
		work_die("op_close_agent");
	work_print_shares("image,symbol", parts, 2);
	return 0;
}
