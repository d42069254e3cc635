/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_dwarf_line.c - a line number program alone; the first byte selects byte order and
 * width. */
#include <stdint.h>

#include "resolve/dwarf/line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dwarf_file file = { .addr_bytes = 8 };
	struct dwarf_info info = { .file = &file };
	struct dwarf_unit unit = { .info = &info, .has_line = true };
	struct dwarf_program program = { 0 };
	struct dwarf_reader reader = { 0 };
	struct dwarf_code all = { 0, UINT64_MAX };
	dwarf_row_vec rows = { 0 };
	struct buf path = { 0 };

	if (!size)
		return 0;
	for (int i = 0; i < DWARF_SECTIONS; i++)
		file.sections[i].fd = -1;
	file.elf.swap = data[0] & 1;
	unit.widths = (struct dwarf_widths){ 4, data[0] & 2 ? 4 : 8, 4 };
	if (!vec_push(&file.code, all) ||
	    dwarf_section_of_bytes(data + 1, size - 1, &file.sections[DWARF_LINE]) ||
	    dwarf_section_of_bytes(data + 1, size - 1, &file.sections[DWARF_LINE_STR]))
		return 0;
	if (!dwarf_program_open(&program, &unit, &reader)) {
		(void)dwarf_program_run(&program, &rows);
		for (size_t i = 1; i < rows.nr; i++) {
			if (rows.at[i].addr < rows.at[i - 1].addr)
				__builtin_trap();
		}
		for (uint64_t i = 0; i < 8; i++)
			(void)dwarf_program_path(&program, i, &path);
	}
	buf_done(&path);
	vec_done(&rows);
	dwarf_program_done(&program);
	dwarf_reader_done(&reader);
	dwarf_file_close(&file);
	return 0;
}
