/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "alloc_fail.h"
#include "resolve/elf/build_id.h"
#include "resolve/elf/file.h"
#include "resolve/elf/pe_maker.h"
#include "resolve/symbols/symtab.h"

enum {
	T = PE_MADE_TEXT_AT
};

static struct symtab *load(struct pe_made *made)
{
	struct symtab *tab;

	pe_made_fill(made);
	assert_int_equal(symtab_load_elf_bytes(made->bytes, PE_MADE_BYTES, &tab, NULL),
			 0);
	return tab;
}

static void expect(const struct symtab *tab, uint64_t offset, const char *name,
		   uint64_t size)
{
	const struct symbol *s = symtab_find(tab, offset);

	if (!name) {
		assert_null(s);
		return;
	}
	assert_non_null(s);
	assert_string_equal(s->name, name);
	assert_int_equal(s->size, size);
}

static void presents_sections_like_elf(void **state)
{
	struct pe_made made = { 0 };
	struct elf_file f;

	(void)state;
	pe_made_fill(&made);
	assert_int_equal(elf_file_init_bytes(&f, made.bytes, PE_MADE_BYTES, NULL), 0);
	assert_int_equal(elf_file_sections(&f, NULL), 0);
	assert_true(f.is_pe && f.is64);
	assert_int_equal(f.machine, EM_X86_64);
	assert_int_equal(f.sections.nr, 3);
	assert_string_equal(elf_file_section_name(&f, &f.sections.at[0]),
			    ".text_long_name");
	assert_int_equal(f.sections.at[0].vaddr, PE_MADE_BASE + PE_MADE_TEXT_RVA);
	assert_int_equal(f.sections.at[0].bytes, PE_MADE_TEXT_BYTES);
	assert_int_equal(f.sections.at[0].flags, SHF_ALLOC | SHF_EXECINSTR);
	assert_non_null(elf_file_find_section(&f, ".rdata"));
	assert_int_equal(f.sections.at[2].type, SHT_NOBITS);
	assert_int_equal(f.segments.nr, 2);
	assert_int_equal(f.segments.at[0].offset, T);
	assert_int_equal(f.segments.at[0].flags, PF_R | PF_X);
	elf_file_done(&f);
}

static void symbols_have_the_sizes_of_the_unwind_table(void **state)
{
	struct pe_made made = { 0 };
	struct symtab *tab = load(&made);

	(void)state;
	assert_int_equal(symtab_count(tab), 3);
	expect(tab, T, "first", 0x80);
	expect(tab, T + 0x7f, "first", 0x80);
	expect(tab, T + 0x80, NULL, 0);
	expect(tab, T + 0x17f, "a_function_with_a_long_name", 0x80);
	expect(tab, T + 0x200, "label", 0x80);
	expect(tab, T + 0x280, NULL, 0);
	assert_int_equal(symtab_vaddr(tab, T + 0x100).v,
			 PE_MADE_BASE + PE_MADE_TEXT_RVA + 0x100);
	symtab_free(tab);
}

static void a_stripped_file_has_its_exports(void **state)
{
	struct pe_made made = { .no_symbols = true };
	struct symtab *tab = load(&made);

	(void)state;
	assert_int_equal(symtab_count(tab), 2);
	expect(tab, T + 0x10, "first", 0x80);
	expect(tab, T + 0x110, NULL, 0);
	expect(tab, T + 0x210, "label", 0x80);
	symtab_free(tab);
}

static void drops_the_underscore_of_32_bit_names(void **state)
{
	struct pe_made made = { .is32 = true };
	struct symtab *tab = load(&made);

	(void)state;
	expect(tab, T, "first", 0x100);
	expect(tab, T + 0x150, "a_function_with_a_long_name", 0x100);
	expect(tab, T + 0x200, "label", 0x80);
	symtab_free(tab);
}

static void uses_the_guid_as_build_id(void **state)
{
	struct pe_made made = { 0 };
	struct build_id id;

	(void)state;
	pe_made_fill(&made);
	assert_int_equal(elf_build_id_bytes(made.bytes, PE_MADE_BYTES, &id), 0);
	assert_int_equal(id.len, 16);
	for (uint8_t i = 0; i < 16; i++)
		assert_int_equal(id.bytes[i], i + 1);
}

static void rejects_firmware(void **state)
{
	struct pe_made made = { .subsystem = 10 };
	struct elf_file f;

	(void)state;
	pe_made_fill(&made);
	assert_int_equal(elf_file_init_bytes(&f, made.bytes, PE_MADE_BYTES, NULL),
			 -EBADMSG);
}

static void truncated_or_damaged_files_are_safe(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct pe_made made = { .no_symbols = i };

		pe_made_fill(&made);
		for (size_t len = 0; len < PE_MADE_BYTES; len++) {
			struct symtab *tab = NULL;
			struct build_id id;

			(void)symtab_load_elf_bytes(made.bytes, len, &tab, NULL);
			symtab_free(tab);
			(void)elf_build_id_bytes(made.bytes, len, &id);
		}
		for (size_t at = 0; at < PE_MADE_BYTES; at++) {
			for (int bit = 0; bit < 8; bit++) {
				struct symtab *tab = NULL;

				made.bytes[at] ^= (uint8_t)(1 << bit);
				(void)symtab_load_elf_bytes(made.bytes, PE_MADE_BYTES,
							    &tab, NULL);
				symtab_free(tab);
				made.bytes[at] ^= (uint8_t)(1 << bit);
			}
		}
	}
}

static void handles_allocation_failure(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct pe_made made = { .no_symbols = i };
		bool failed = true;

		pe_made_fill(&made);
		for (unsigned long n = 1; failed; n++) {
			struct symtab *tab = NULL;
			int r;

			alloc_fail_at(n);
			r = symtab_load_elf_bytes(made.bytes, PE_MADE_BYTES, &tab,
						  NULL);
			failed = alloc_fail_off();
			assert_int_equal(r, failed ? -ENOMEM : 0);
			symtab_free(tab);
		}
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(presents_sections_like_elf),
		cmocka_unit_test(symbols_have_the_sizes_of_the_unwind_table),
		cmocka_unit_test(a_stripped_file_has_its_exports),
		cmocka_unit_test(drops_the_underscore_of_32_bit_names),
		cmocka_unit_test(uses_the_guid_as_build_id),
		cmocka_unit_test(rejects_firmware),
		cmocka_unit_test(truncated_or_damaged_files_are_safe),
		cmocka_unit_test(handles_allocation_failure),
	};

	return UNIT_RUN(cases);
}
