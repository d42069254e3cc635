/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jit_frames MS [late|open] [nameless] - uses MS of CPU time in generated code without frame
 * pointer (x86-64): only the unwind tables in its jitdump lead to its caller. late: describes the
 * code when all of it has run. open: the same, and even the header reaches the file at the end.
 * nameless: the header does not name the machine, like that of CPython. */
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

enum {
	MAGIC = 0x4A695444,
	CODE_LOAD = 0,
	CODE_UNWIND = 4,
	CODE_BYTES = 24, /* a multiple of 8: tables follow directly */
	TURNS = 1000000
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

static const uint8_t code[CODE_BYTES] = {
	0x55,                      /*  0 push %rbp */
	0x48, 0x83, 0xec, 0x18,    /*  1 sub $24, %rsp */
	0xbd, 1,    0,    0,    0, /*  5 mov $1, %ebp */
	0xff, 0xcf,                /* 10 dec %edi */
	0x75, 0xfc,                /* 12 jne 10 */
	0x48, 0x83, 0xc4, 0x18,    /* 14 add $24, %rsp */
	0x5d,                      /* 18 pop %rbp */
	0xc3,                      /* 19 ret */
	0xcc, 0xcc, 0xcc, 0xcc,
};

/* .eh_frame: a CIE of 24 bytes, an FDE, the end. */
static const uint8_t tables[] = {
	20,   0,    0,    0,    0,  0, 0, 0, 1,    'z',  'R',  0,    1, 0x78,
	16,   1,    0x1b,                 /* DW_EH_PE_pcrel | sdata4 */
	0x0c, 7,    8,    0x90, 1,  0, 0, /* CFA: rsp + 8 */
	32,   0,    0,    0,    28, 0, 0, 0, 0xc8, 0xff, 0xff, 0xff, /* 24 + 8 + 24 bytes before */
	20,   0,    0,    0,    0,                                   /* bytes of code */
	0x41, 0x0e, 16,   0x86, 2, /*  1: rsp + 16, rbp */
	0x44, 0x0e, 40,            /*  5: rsp + 40 */
	0x4d, 0x0e, 16,            /* 18: rsp + 16 */
	0x41, 0x0e, 8,             /* 19: rsp + 8 */
	0,    0,    0,    0,    0,  0, 0, 0, 0,    0,    0,    0,    0, 0,
};

static uint64_t time_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void put(FILE *dump, const void *bytes, size_t len)
{
	if (fwrite(bytes, 1, len, dump) != len)
		work_die("jitdump");
}

static FILE *begin_dump(bool is_written, bool has_machine)
{
	struct header h = { .magic = MAGIC,
			    .version = 1,
			    .bytes = sizeof(h),
			    .machine = has_machine ? EM_X86_64 : EM_NONE,
			    .pid = (uint32_t)getpid(),
			    .time = time_ns(CLOCK_MONOTONIC) };
	char path[64];
	FILE *dump;

	snprintf(path, sizeof(path), "jit-%d.dump", getpid());
	dump = fopen(path, "w+");
	if (!dump)
		work_die(path);
	put(dump, &h, sizeof(h));
	if (is_written && fflush(dump))
		work_die(path);
	/* This mapping shows the dump to the recorder. */
	if (mmap(NULL, sizeof(h), PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump),
		 0) == MAP_FAILED)
		work_die("mmap of the jitdump");
	return dump;
}

static void report_fn(FILE *dump, const void *at)
{
	static const char name[] = "frameless";
	struct {
		struct record head;
		uint64_t bytes, header, mapped;
	} unwind = { { CODE_UNWIND, sizeof(unwind) + sizeof(tables),
		       time_ns(CLOCK_MONOTONIC) },
		     sizeof(tables),
		     0,
		     0 };
	struct {
		struct record head;
		uint32_t pid, tid;
		uint64_t vma, address, size, index;
	} load = { { CODE_LOAD, sizeof(load) + sizeof(name) + sizeof(code),
		     time_ns(CLOCK_MONOTONIC) },
		   (uint32_t)getpid(),
		   (uint32_t)getpid(),
		   (uintptr_t)at,
		   (uintptr_t)at,
		   sizeof(code),
		   1 };

	put(dump, &unwind, sizeof(unwind));
	put(dump, tables, sizeof(tables));
	put(dump, &load, sizeof(load));
	put(dump, name, sizeof(name));
	put(dump, code, sizeof(code));
	if (fclose(dump))
		work_die("jitdump");
}

__attribute__((noinline)) static void call_code(void (*fn)(unsigned int))
{
	fn(TURNS);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	uint64_t end = time_ns(CLOCK_PROCESS_CPUTIME_ID) +
		       strtoull(argc > 1 ? argv[1] : "500", NULL, 10) * 1000000;
	const char *when = argc > 2 ? argv[2] : "";
	bool is_late = !strcmp(when, "late") || !strcmp(when, "open");
	FILE *dump = begin_dump(strcmp(when, "open") != 0,
				!(argc > 2 && !strcmp(argv[argc - 1], "nameless")));
	void (*fn)(unsigned int);
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		work_die("mmap");
	memcpy(at, code, sizeof(code));
	memcpy(&fn, &at, sizeof(fn));
	if (!is_late)
		report_fn(dump, at);
	while (time_ns(CLOCK_PROCESS_CPUTIME_ID) < end)
		call_code(fn);
	if (is_late)
		report_fn(dump, at);
	return 0;
}
