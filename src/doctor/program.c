/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program.c - checks whether samples of a program will have names, lines and call stacks. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/files/path.h"
#include "base/files/program_find.h"
#include "doctor/doctor_priv.h"
#include "doctor/runtimes.h"
#include "resolve/elf/build_id.h"
#include "resolve/elf/file.h"
#include "resolve/find/binary.h"
#include "resolve/find/debug_link.h"
#include "resolve/find/debug_remedy.h"
#include "resolve/symbols/symtab.h"

static const char group[] = "Program";

enum {
	SCRIPT_LINE_MAX = 256,
	FUNCTION_LEAST = 32, /* bytes: smaller functions often need no frame */
	FUNCTIONS_READ = 2000,
	FUNCTIONS_LEAST = 4,
	PROLOGUE_BYTES = 24
};

/* The program that is checked, and its properties. */
struct doctor_binary {
	struct doctor *d;
	char *path;
	int fd;
	struct elf_file elf;
	struct build_id id;
	const struct distribution *distribution;
};

static void fix_debug(struct doctor_binary *b)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	const struct debug_remedy remedy = { .distribution = b->distribution,
					     .has_servers = urls && *urls,
					     .path = b->path,
					     .build_id = &b->id };
	struct buf fix = { 0 };

	debug_remedy_put(&fix, &remedy);
	buf_put_u8(&fix, 0);
	if (!fix.failed)
		doctor_fix(b->d, "%s", (const char *)fix.data);
	b->d->no_memory |= fix.failed;
	buf_done(&fix);
}

static void check_build_id(struct doctor_binary *b)
{
	char hex[2 * BUILD_ID_MAX + 1];
	bool has = !elf_build_id_fd(b->fd, &b->id, NULL);

	build_id_to_hex(&b->id, hex);
	doctor_add(b->d, group, "build-id", has ? DOCTOR_OK : DOCTOR_MISSING, "%s",
		   has ? hex : "none");
	doctor_cost(b->d, "reports cannot check that a file is the recorded one");
	doctor_fix(b->d, "gcc -Wl,--build-id ...");
}

/* Opens the separate debug file of the binary. Returns its descriptor and path, or -1 if none was
 * found. */
static int open_debug(struct doctor_binary *b, char **ret_path)
{
	const struct image image = { .kind = IMAGE_FILE, .build_id = b->id };
	const struct binary_locations locations = {
		.stage = BINARY_HERE, .session_dir = "", .root = "", .lines = true
	};
	struct binary found = { 0 };
	int fd;

	if (binary_find(&locations, &image, b->path, &found))
		return -1;
	fd = found.debug_fd;
	*ret_path = found.debug_path;
	found.debug_fd = -1;
	found.debug_path = NULL;
	binary_close(&found);
	return fd;
}

static void check_program_symbols(struct doctor_binary *b, int debug_fd)
{
	bool own = elf_file_find_section(&b->elf, ".symtab");
	bool some = own || elf_file_find_section(&b->elf, ".gnu_debugdata") ||
		    elf_file_find_section(&b->elf, ".gopclntab");

	doctor_add(b->d, group, "symbols",
		   some || debug_fd >= 0 ? DOCTOR_OK : DOCTOR_LIMITED, "%s",
		   own             ? ".symtab"
		   : debug_fd >= 0 ? "in the separate debug file"
		   : some          ? "functions only (.gnu_debugdata or .gopclntab)"
				   : "stripped: only exported functions");
	doctor_cost(b->d, "functions have no names");
	fix_debug(b);
}

static bool has_lines(struct elf_file *f)
{
	return elf_file_find_section(f, ".debug_info") ||
	       elf_file_find_section(f, ".zdebug_info") ||
	       elf_file_find_section(f, ".gopclntab");
}

static bool debug_has_lines(int fd)
{
	struct elf_file f;
	bool has;

	if (fd < 0 || elf_file_init_fd(&f, fd, NULL))
		return false;
	has = !elf_file_sections(&f, NULL) && has_lines(&f);
	elf_file_done(&f);
	return has;
}

static void check_lines(struct doctor_binary *b, int debug_fd, const char *debug_path)
{
	bool own = has_lines(&b->elf);
	bool split = !own && debug_has_lines(debug_fd);

	doctor_add(b->d, group, "debug information",
		   own || split ? DOCTOR_OK : DOCTOR_LIMITED, "%s",
		   own     ? "in the program"
		   : split ? debug_path
			   : "none");
	doctor_cost(b->d, "no source lines and inlined functions");
	fix_debug(b);
}

static void check_unwind(struct doctor_binary *b)
{
	bool has = elf_file_find_section(&b->elf, ".eh_frame") ||
		   elf_file_find_section(&b->elf, ".debug_frame") ||
		   elf_file_find_section(&b->elf, ".sframe") ||
		   elf_file_find_section(&b->elf, ".ARM.exidx") ||
		   elf_file_find_section(&b->elf, ".gopclntab");

	doctor_add(b->d, group, "unwind tables (CFI)", has ? DOCTOR_OK : DOCTOR_LIMITED,
		   "%s", has ? "operf --callgraph=dwarf" : "none");
	doctor_cost(b->d, "operf --callgraph=dwarf has no call stacks of it");
	doctor_fix(b->d, "gcc -fasynchronous-unwind-tables ...");
}

/* Returns whether code begins by saving and setting the frame pointer. */
static bool sets_frame_pointer(uint16_t machine, const uint8_t *code, size_t len)
{
	/* mov %rsp, %rbp.  Compilers move other instructions between it and push %rbp. */
	static const uint8_t set[] = { 0x48, 0x89, 0xe5 };

	if (machine == EM_X86_64)
		return memmem(code, len, set, sizeof(set));
	/* mov x29, sp: add x29, sp, #N */
	for (size_t i = 0; i + 4 <= len; i += 4) {
		uint32_t word = (uint32_t)code[i] | (uint32_t)code[i + 1] << 8 |
				(uint32_t)code[i + 2] << 16 |
				(uint32_t)code[i + 3] << 24;

		if ((word & 0xffc003ffU) == 0x910003fdU)
			return true;
	}
	return false;
}

/* Returns whether code begins by saving a register or by reserving space on the stack: leaf
 * functions need no frame pointer. */
static bool uses_stack(uint16_t machine, const uint8_t *code)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint32_t word;

	if (machine == EM_X86_64) {
		if (!memcmp(code, endbr64, sizeof(endbr64)))
			code += sizeof(endbr64);
		/* push; push %r8 to %r15; sub $N, %rsp */
		return (code[0] & 0xf8) == 0x50 ||
		       (code[0] == 0x41 && (code[1] & 0xf8) == 0x50) ||
		       (code[0] == 0x48 && (code[1] & 0xfd) == 0x81 && code[2] == 0xec);
	}
	word = (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
	       (uint32_t)code[3] << 24;
	/* stp X, Y, [sp, #-N]!; sub sp, sp, #N; paciasp, which precedes one of them */
	return (word & 0xffc003e0U) == 0xa98003e0U ||
	       (word & 0xff8003ffU) == 0xd10003ffU || word == 0xd503233fU;
}

struct prologues {
	size_t nr;     /* functions read that use the stack */
	size_t framed; /* of these, with a frame pointer */
};

static void count_prologues(struct doctor_binary *b, const struct symtab *tab,
			    struct prologues *p)
{
	size_t nr = symtab_count(tab);
	size_t step = nr / FUNCTIONS_READ + 1;

	for (size_t i = 0; i < nr; i += step) {
		const struct symbol *s = symtab_at(tab, i);
		uint8_t code[PROLOGUE_BYTES];

		if (!s || s->size < FUNCTION_LEAST || *s->name == '_' ||
		    elf_file_read(&b->elf, s->offset, code, sizeof(code)) ||
		    !uses_stack(b->elf.machine, code))
			continue;
		p->nr++;
		p->framed += sets_frame_pointer(b->elf.machine, code, sizeof(code));
	}
}

static void check_frame_pointers(struct doctor_binary *b, int debug_fd)
{
	static const char name[] = "frame pointers of it";
	struct prologues p = { 0 };
	struct symtab *tab = NULL;
	bool most;
	int r = debug_fd >= 0
			? symtab_load_elf_debug(b->fd, debug_fd, SYMTAB_FILE_OFFSETS,
						&tab, NULL)
			: symtab_load_elf_fd(b->fd, SYMTAB_FILE_OFFSETS, &tab, NULL);

	if (r || (b->elf.machine != EM_X86_64 && b->elf.machine != EM_AARCH64))
		goto out;
	count_prologues(b, tab, &p);
	if (p.nr < FUNCTIONS_LEAST)
		goto out;
	most = 2 * p.framed >= p.nr;
	doctor_add(b->d, group, name, most ? DOCTOR_OK : DOCTOR_LIMITED,
		   "in %zu of %zu functions", p.framed, p.nr);
	doctor_cost(b->d, "call stacks of operf --callgraph=fp lack callers");
	doctor_fix(b->d, "operf --callgraph=dwarf %s", path_base(b->path));
out:
	symtab_free(tab);
}

static void check_runtime(struct doctor *d, const char *path)
{
	const struct runtime *r = runtime_find(path_base(path));
	bool ready;

	if (!r)
		return;
	ready = runtime_is_set_up(r);
	doctor_add(d, group, r->kind == RUNTIME_JIT ? "JIT compiler" : "interpreter",
		   ready ? DOCTOR_OK : DOCTOR_LIMITED, "%s", path_base(path));
	doctor_cost(
		d,
		r->kind == RUNTIME_JIT
			? "generated code has no names"
			: "samples are in the interpreter, not in functions of the script");
	if (r->fix)
		doctor_fix(d, "%s", r->fix);
}

/* Returns the interpreter of a script (malloc'd), or NULL: the last component of "#!" lines such as
 * "#!/usr/bin/env python3". */
static char *script_interpreter(int fd)
{
	char line[SCRIPT_LINE_MAX];
	ssize_t n = pread(fd, line, sizeof(line) - 1, 0);
	char *save, *word;

	if (n < 2 || line[0] != '#' || line[1] != '!')
		return NULL;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	word = strtok_r(line + 2, " \t", &save);
	while (word &&
	       (!strcmp(path_base(word), "env") || *word == '-' || strchr(word, '=')))
		word = strtok_r(NULL, " \t", &save);
	return word ? strdup(word) : NULL;
}

static int check_binary(struct doctor_binary *b)
{
	struct err err = { 0 };
	char *debug_path = NULL;
	int debug_fd;
	int r = elf_file_init_fd(&b->elf, b->fd, &err);

	if (r)
		return r;
	(void)elf_file_sections(&b->elf, &err);
	check_build_id(b);
	debug_fd = open_debug(b, &debug_path);
	check_program_symbols(b, debug_fd);
	check_lines(b, debug_fd, debug_path);
	check_unwind(b);
	check_frame_pointers(b, debug_fd);
	check_runtime(b->d, b->path);
	if (debug_fd >= 0)
		close(debug_fd);
	free(debug_path);
	elf_file_done(&b->elf);
	return 0;
}

int doctor_program(struct doctor *d, const char *program)
{
	struct doctor_binary b = { .d = d, .distribution = distribution_find(d->root) };
	char *interpreter;
	int r;

	b.path = program_find(program);
	if (!b.path)
		return -ENOENT;
	b.fd = elf_open_unreported(b.path);
	interpreter = b.fd >= 0 ? script_interpreter(b.fd) : NULL;
	if (b.fd < 0) {
		r = b.fd;
	} else if (interpreter) {
		doctor_add(d, group, "kind", DOCTOR_OK, "script of %s", interpreter);
		check_runtime(d, interpreter);
		r = 0;
	} else {
		r = check_binary(&b);
	}
	if (b.fd >= 0)
		close(b.fd);
	free(interpreter);
	free(b.path);
	return r;
}
