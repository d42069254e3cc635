/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_dwarf_unpack.c - a compressed debug section; the first byte selects the compression. */
#include <elf.h>
#include <stdint.h>

#include "resolve/dwarf/section.h"
#include "resolve/elf/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_file file = { .fd = -1 };
	struct elf_section packed = { .type = SHT_PROGBITS, .flags = SHF_COMPRESSED };
	struct dwarf_section s;

	if (!size)
		return 0;
	file.bytes = data + 1;
	file.len = size - 1;
	file.is64 = data[0] & 1;
	file.swap = data[0] & 2;
	packed.bytes = size - 1;
	if (!dwarf_section_open(&file, &packed, data[0] & 4, &s)) {
		struct dwarf_spare spare = { 0 };

		(void)dwarf_section_text(&s, &spare, s.bytes / 2);
		dwarf_spare_done(&spare);
		dwarf_section_close(&s);
	}
	return 0;
}
