/* SPDX-License-Identifier: GPL-2.0-or-later */
/* decode_text FILE [DEBUG-FILE]: each instruction of the executable sections of an ELF file, as
 * "ADDRESS SECTION KIND", for instructions.py; KIND is "insn", "data" or "bad". */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/err.h"
#include "resolve/code/code.h"
#include "resolve/code/insn.h"
#include "resolve/elf/file.h"

static void decode(struct code *code, const char *name, const struct elf_section *s)
{
	struct insn insn;

	for (uint64_t at = s->vaddr; at < s->vaddr + s->bytes; at += insn.len) {
		const char *kind;

		if (code_insn(code, at, &insn))
			return;
		kind = insn.bad ? "bad" : insn.is_data ? "data" : "insn";
		printf("%" PRIx64 " %s %s\n", at, name, kind);
	}
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? elf_open_regular(argv[1]) : -1;
	struct err err = { 0 };
	const struct code_where where = {
		.path = argc > 1 ? argv[1] : "",
		.symbols_path = argc > 2 ? argv[2] : NULL,
	};
	struct elf_file f;
	struct code *code;

	if (fd < 0 || elf_file_init_fd(&f, fd, &err) || elf_file_sections(&f, &err) ||
	    code_open(&where, &code, &err)) {
		fprintf(stderr, "decode_text: %s\n", err.text);
		return 1;
	}
	for (size_t i = 0; i < f.sections.nr; i++) {
		const struct elf_section *s = &f.sections.at[i];

		if (s->flags & SHF_EXECINSTR && s->type == SHT_PROGBITS)
			decode(code, elf_file_section_name(&f, s), s);
	}
	code_close(code);
	elf_file_done(&f);
	close(fd);
	return 0;
}
