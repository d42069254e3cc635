/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "resolve/elf/needed.h"

#include <elf.h>
#include <errno.h>

#include "alloc_fail.h"
#include "base/buf.h"
#include "resolve/elf/elf_maker.h"
#include "resolve/elf/file.h"
#include "unit.h"

enum {
	V = ELF_MAKER_VADDR,
	O = ELF_MAKER_OFFSET,
	CODE = SHF_ALLOC | SHF_EXECINSTR
};

static const uint8_t bytes[0x100];

static const struct elf_maker_section sections[] = {
	{ ".text", SHT_PROGBITS, CODE, V + 0x100, bytes, 0x100, 0, 0 },
	{ ".plt", SHT_PROGBITS, CODE, V + 0x240, bytes, 0x40, 0, 0 },
	{ ".rodata", SHT_PROGBITS, SHF_ALLOC, V + 0x300, bytes, 0x80, 0, 0 },
	{ ".opd", SHT_PROGBITS, SHF_ALLOC, V + 0x400, bytes, 0x20, 0, 0 },
	/* The section is not in memory, so it is not code of the program. */
	{ ".data", SHT_PROGBITS, 0, 0, bytes, 0x30, 0, 0 },
};

static int find(const struct elf_maker *m, const elf_spans *keep, elf_spans *ret_spans)
{
	struct buf b = { 0 };
	struct elf_file f;
	int r;

	elf_maker_write(m, &b);
	assert_false(b.failed);
	assert_int_equal(elf_file_init_bytes(&f, b.data, b.len, NULL), 0);
	r = elf_unneeded(&f, keep, ret_spans);
	elf_file_done(&f);
	buf_done(&b);
	return r;
}

static void assert_spans(const elf_spans *found, const struct elf_span *want, size_t nr)
{
	assert_int_equal(found->nr, nr);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(found->at[i].offset, want[i].offset);
		assert_int_equal(found->at[i].end, want[i].end);
	}
}

static void omits_unsampled_code_and_data(void **state)
{
	static const struct elf_span want[] = { { O + 0x100, O + 0x120 },
						{ O + 0x140, O + 0x1f0 },
						{ O + 0x300, O + 0x380 } };
	struct elf_span kept[] = { { O + 0x120, O + 0x140 }, { O + 0x1f0, O + 0x260 } };
	const elf_spans keep = { .at = kept, .nr = 2 };

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		const struct elf_maker m = { .is64 = i & 1,
					     .big_endian = i & 2,
					     .machine = EM_S390,
					     .sections = sections,
					     .nr_sections = 5 };
		elf_spans found = { 0 };

		assert_int_equal(find(&m, &keep, &found), 0);
		assert_spans(&found, want, 3);
		vec_done(&found);
	}
}

static void keeps_data_of_go_without_debug_information(void **state)
{
	static const struct elf_maker_section go[] = {
		{ ".text", SHT_PROGBITS, CODE, V + 0x100, bytes, 0x100, 0, 0 },
		{ ".rodata", SHT_PROGBITS, SHF_ALLOC, V + 0x300, bytes, 0x80, 0, 0 },
		{ ".go.buildinfo", SHT_PROGBITS, SHF_ALLOC, V + 0x400, bytes, 32, 0,
		  0 },
		{ ".debug_info", SHT_PROGBITS, 0, 0, bytes, 32, 0, 0 },
	};
	static const struct elf_span want[] = { { O + 0x100, O + 0x200 },
						{ O + 0x300, O + 0x380 } };
	struct elf_maker m = { .is64 = true, .machine = EM_X86_64, .sections = go };
	const elf_spans keep = { 0 };
	elf_spans found = { 0 };

	(void)state;
	for (size_t nr = 3; nr <= 4; nr++) {
		m.nr_sections = nr;
		assert_int_equal(find(&m, &keep, &found), 0);
		assert_spans(&found, want, nr == 3 ? 1 : 2);
		vec_done(&found);
	}
}

/* The unwind table, four bytes, is within .text. */
static void keeps_other_sections(void **state)
{
	static const struct elf_span want[] = { { O + 0x100, O + 0x180 },
						{ O + 0x184, O + 0x200 } };
	const struct elf_maker m = { .is64 = true,
				     .machine = EM_X86_64,
				     .sections = sections,
				     .nr_sections = 1,
				     .eh_frame_hdr = V + 0x180 };
	const elf_spans keep = { 0 };
	elf_spans found = { 0 };

	(void)state;
	assert_int_equal(find(&m, &keep, &found), 0);
	assert_spans(&found, want, 2);
	vec_done(&found);
}

static void without_sections_everything_is_needed(void **state)
{
	const struct elf_maker m = { .is64 = true,
				     .machine = EM_X86_64,
				     .no_sections = true };
	const elf_spans keep = { 0 };
	elf_spans found = { 0 };

	(void)state;
	assert_int_equal(find(&m, &keep, &found), 0);
	assert_int_equal(found.nr, 0);
	vec_done(&found);
}

static void merges_adjacent_ranges(void **state)
{
	static const struct elf_span given[] = { { 30, 40 }, { 10, 20 }, { 20, 25 },
						 { 12, 15 }, { 50, 50 }, { 39, 45 } };
	static const struct elf_span want[] = { { 10, 25 }, { 30, 45 } };
	elf_spans s = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(given); i++)
		assert_true(vec_push(&s, given[i]));
	elf_spans_join(&s);
	assert_spans(&s, want, 2);
	vec_done(&s);
}

static void handles_allocation_failure(void **state)
{
	const struct elf_maker m = { .is64 = true,
				     .machine = EM_X86_64,
				     .sections = sections,
				     .nr_sections = 5 };
	const elf_spans keep = { 0 };
	struct buf b = { 0 };
	bool failed = true;

	(void)state;
	elf_maker_write(&m, &b);
	for (unsigned int n = 1; failed; n++) {
		elf_spans found = { 0 };
		struct elf_file f;
		int r;

		assert_true(n < 100);
		assert_int_equal(elf_file_init_bytes(&f, b.data, b.len, NULL), 0);
		alloc_fail_at(n);
		r = elf_unneeded(&f, &keep, &found);
		failed = alloc_fail_off();
		if (!failed)
			assert_int_equal(r, 0);
		assert_true(found.nr == 2 || (failed && !found.nr));
		vec_done(&found);
		elf_file_done(&f);
	}
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(omits_unsampled_code_and_data),
		cmocka_unit_test(keeps_data_of_go_without_debug_information),
		cmocka_unit_test(keeps_other_sections),
		cmocka_unit_test(without_sections_everything_is_needed),
		cmocka_unit_test(merges_adjacent_ranges),
		cmocka_unit_test(handles_allocation_failure),
	};

	return UNIT_RUN(cases);
}
