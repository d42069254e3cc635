/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jit_dump [MS] - code in a jitdump: two functions that repeatedly replace each other at the
 * same address, and one that moves back and forth. */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

enum {
	SLOT_BYTES = 512,
	NR_SLOTS = 3,
	SLOT_SHARED = 0, /* of two functions, one after the other */
	SLOT_LEFT = 1,   /* of the one that moves */
	SLOT_RIGHT = 2,
	MAGIC = 0x4A695444,
	CODE_LOAD = 0,
	CODE_MOVE = 1,
	CODE_LINES = 2,
	CODE_CLOSE = 3,
	CODE_UNWIND = 4,
	MOVER_INDEX = 1000000
};

/* tools/perf/Documentation/jitdump-specification.txt of Linux */
struct header {
	uint32_t magic, version, bytes, machine, pad, pid;
	uint64_t time, flags;
};

struct record {
	uint32_t id, bytes;
	uint64_t time;
};

struct load {
	struct record head;
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
};

struct move {
	struct record head;
	uint32_t pid, tid;
	uint64_t vma, from, to, size, index;
};

extern const char __start_region_template[], __stop_region_template[];

__attribute__((section("region_template"))) WORK_FUNCTION(region_work)

	static struct {
	FILE *dump;
	char *code;
	size_t len; /* of the code template in bytes */
	size_t at;  /* offset of the function in the template */
	char shared;
	int mover; /* slot, 0: nowhere yet */
	uint64_t index;
} jit;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void put(const void *bytes, size_t len)
{
	if (fwrite(bytes, 1, len, jit.dump) != len)
		work_die("jitdump");
}

static struct record head(uint32_t id, size_t bytes)
{
	return (struct record){ id, (uint32_t)bytes, now_ns() };
}

static void put_lines(const char *at)
{
	struct {
		struct record head;
		uint64_t address, nr;
		uint64_t first;
		uint32_t line, discriminator;
	} lines = { head(CODE_LINES, sizeof(lines) + sizeof("burn.jit")),
		    (uintptr_t)at,
		    1,
		    (uintptr_t)at,
		    42,
		    0 };

	put(&lines, sizeof(lines));
	put("burn.jit", sizeof("burn.jit"));
}

static void put_unwind(void)
{
	struct {
		struct record head;
		uint64_t bytes, header, mapped;
	} unwind = { head(CODE_UNWIND, sizeof(unwind)), 0, 0, 0 };

	put(&unwind, sizeof(unwind));
}

/* Copies code to a slot, and describes it in the dump before it runs. */
static void load(int slot, const char *name, uint64_t index)
{
	char *at = jit.code + slot * SLOT_BYTES;
	size_t name_len = strlen(name) + 1;
	struct load l = { .head = head(CODE_LOAD, sizeof(l) + name_len + jit.len),
			  .pid = (uint32_t)getpid(),
			  .tid = (uint32_t)getpid(),
			  .vma = (uintptr_t)at,
			  .address = (uintptr_t)at,
			  .size = jit.len,
			  .index = index };

	memcpy(at, __start_region_template, jit.len);
	__builtin___clear_cache(at, at + jit.len);
	put(&l, sizeof(l));
	put(name, name_len);
	put(at, jit.len);
}

static void move_to(int slot)
{
	char *from = jit.code + jit.mover * SLOT_BYTES;
	char *to = jit.code + slot * SLOT_BYTES;
	struct move m = { .head = head(CODE_MOVE, sizeof(m)),
			  .pid = (uint32_t)getpid(),
			  .tid = (uint32_t)getpid(),
			  .vma = (uintptr_t)to,
			  .from = (uintptr_t)from,
			  .to = (uintptr_t)to,
			  .size = jit.len,
			  .index = MOVER_INDEX };

	memcpy(to, from, jit.len);
	__builtin___clear_cache(to, to + jit.len);
	put(&m, sizeof(m));
	jit.mover = slot;
}

static void run(int slot, uint64_t rounds)
{
	((work_fn)(uintptr_t)(jit.code + slot * SLOT_BYTES + jit.at))(rounds);
}

static void run_first(uint64_t rounds)
{
	if (jit.shared != 'a') {
		put_lines(jit.code);
		load(SLOT_SHARED, "reuse_first", jit.index++);
	}
	jit.shared = 'a';
	run(SLOT_SHARED, rounds);
}

static void run_second(uint64_t rounds)
{
	if (jit.shared != 'b') {
		put_unwind();
		load(SLOT_SHARED, "reuse_second(int)", jit.index++);
	}
	jit.shared = 'b';
	run(SLOT_SHARED, rounds);
}

static void run_left(uint64_t rounds)
{
	if (!jit.mover)
		load(SLOT_LEFT, "mover", MOVER_INDEX);
	if (!jit.mover)
		jit.mover = SLOT_LEFT;
	if (jit.mover != SLOT_LEFT)
		move_to(SLOT_LEFT);
	run(SLOT_LEFT, rounds);
}

static void run_right(uint64_t rounds)
{
	if (jit.mover != SLOT_RIGHT)
		move_to(SLOT_RIGHT);
	run(SLOT_RIGHT, rounds);
}

static void begin_dump(void)
{
	struct header h = {
		MAGIC, 1, sizeof(h), 0, 0, (uint32_t)getpid(), now_ns(), 0
	};
	char path[64];

	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	jit.dump = fopen(path, "w+");
	if (!jit.dump)
		work_die(path);
	/* Readers find the file by this mapping. */
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(jit.dump), 0) ==
	    MAP_FAILED)
		work_die("mmap");
#ifdef __x86_64__
	h.machine = EM_X86_64;
#elif defined(__aarch64__)
	h.machine = EM_AARCH64;
#endif
	put(&h, sizeof(h));
}

int main(int argc, char **argv)
{
	struct work_part parts[] = {
		{ .name = "*JIT*|*.jo,reuse_first", .run = run_first, .weight = 2 },
		{ .name = "*JIT*|*.jo,reuse_second(int)",
		  .run = run_second,
		  .weight = 5 },
		{ .name = "*JIT*|*.jo,mover", .run = run_left, .weight = 1 },
		{ .run = run_right, .weight = 2 },
	};
	struct record end;

	jit.len = (size_t)(__stop_region_template - __start_region_template);
	jit.at = (size_t)((uintptr_t)region_work - (uintptr_t)__start_region_template);
	jit.code = mmap(NULL, SLOT_BYTES * NR_SLOTS, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (jit.code == MAP_FAILED)
		work_skip("no memory may be written and executed");
	if (jit.len > SLOT_BYTES)
		work_skip("the code is larger than expected");
	begin_dump();
	work_run_parts(parts, 4, work_argument(argc, argv, 1, 2000), 25);
	end = head(CODE_CLOSE, sizeof(end));
	put(&end, sizeof(end));
	if (fclose(jit.dump))
		work_die("jitdump");
	parts[2].cpu_ns += parts[3].cpu_ns;
	work_print_shares("image,symbol", parts, 3);
	return 0;
}
