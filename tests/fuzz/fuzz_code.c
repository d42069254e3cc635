/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the code of a binary: linked, and as a relocated kernel module whose sections were
 * loaded apart. Iterates over all of its sections with code. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/files/io.h"
#include "resolve/code/code.h"
#include "resolve/code/insn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	INSNS_MAX = 64,
	NR_SECTIONS = 3
};

static const struct section_address sections[NR_SECTIONS] = {
	{ ".text", 0x10000 },
	{ ".text.unlikely", 0x20000 },
	{ ".data", 0x30000 },
};

static void walk(struct code *code, uint64_t address)
{
	for (int i = 0; i < INSNS_MAX; i++) {
		struct insn insn;
		uint64_t start;

		if (code_insn(code, address, &insn))
			break;
		if (!insn.len)
			abort();
		code_symbol(code, address, &start);
		code_reference(code, address, address + insn.len);
		code_section(code, address);
		address += insn.len;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];

	if (fd < 0 || io_write_all(fd, data, size))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (int module = 0; module < 2; module++) {
		const struct code_where where = {
			.path = path,
			.sections = sections,
			.nr_sections = module ? NR_SECTIONS : 0,
		};
		struct code *code;

		if (code_open(&where, &code, NULL))
			continue;
		for (int i = 0; i < NR_SECTIONS; i++)
			walk(code, sections[i].address);
		walk(code, 0x401000);
		code_close(code);
	}
	close(fd);
	return 0;
}
