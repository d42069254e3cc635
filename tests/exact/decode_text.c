/* SPDX-License-Identifier: GPL-2.0-or-later */
/* decode_text [--text] FILE [DEBUG-FILE]: each instruction of the executable sections of an ELF
 * file, as "ADDRESS SECTION KIND", for instructions.py; KIND is "insn", "data" or "bad". With
 * --text, as "ADDRESS KIND TEXT", where TEXT is that of objdump without symbols, for operands.py.
 * decode_text --engine: the name of the disassembler of x86. */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "resolve/code/code.h"
#include "resolve/code/insn.h"
#include "resolve/elf/file.h"

static void decode_text_put(uint64_t at, const char *kind, const struct insn *insn)
{
	printf("%" PRIx64 " %s %s", at, kind, insn->text);
	if (insn->has_target)
		printf("%" PRIx64, insn->target);
	if (insn->has_data)
		printf("        # %" PRIx64, insn->data);
	putchar('\n');
}

static void decode(struct code *code, const char *name, const struct elf_section *s)
{
	struct insn insn;

	for (uint64_t at = s->vaddr; at < s->vaddr + s->bytes; at += insn.len) {
		const char *kind;

		if (code_insn(code, at, &insn))
			return;
		kind = insn.bad ? "bad" : insn.is_data ? "data" : "insn";
		if (name)
			printf("%" PRIx64 " %s %s\n", at, name, kind);
		else
			decode_text_put(at, kind, &insn);
	}
}

static int decode_text_engine(void)
{
	const struct insn_machine machine = { .machine = EM_X86_64, .is64 = true };
	struct insn_decoder *d;

	if (insn_open(&machine, &d))
		return 1;
	puts(insn_engine_name(d));
	insn_close(d);
	return 0;
}

int main(int argc, char **argv)
{
	bool text = argc > 1 && !strcmp(argv[1], "--text");
	const char *path = argc > 1 + text ? argv[1 + text] : "";
	const struct code_where where = {
		.path = path,
		.symbols_path = argc > 2 + text ? argv[2 + text] : NULL,
	};
	struct err err = { 0 };
	struct elf_file f;
	struct code *code;
	int fd;

	if (!strcmp(path, "--engine"))
		return decode_text_engine();
	fd = elf_open_regular(path);
	if (fd < 0 || elf_file_init_fd(&f, fd, &err) || elf_file_sections(&f, &err) ||
	    code_open(&where, &code, &err)) {
		fprintf(stderr, "decode_text: %s\n", err.text);
		return 1;
	}
	for (size_t i = 0; i < f.sections.nr; i++) {
		const struct elf_section *s = &f.sections.at[i];

		if (s->flags & SHF_EXECINSTR && s->type == SHT_PROGBITS)
			decode(code, text ? NULL : elf_file_section_name(&f, s), s);
	}
	code_close(code);
	elf_file_done(&f);
	close(fd);
	return 0;
}
