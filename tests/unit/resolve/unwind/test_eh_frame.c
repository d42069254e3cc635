/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "alloc_fail.h"
#include "base/buf.h"
#include "resolve/elf/elf_maker.h"
#include "resolve/elf/file.h"
#include "resolve/unwind/eh_frame.h"

#define VADDR 0x402000

enum {
	PCREL_SDATA4 = 0x1b,
	PCREL_UDATA8 = 0x14,
	ABSPTR = 0,
	DATAREL = 0x3b
};

struct maker {
	struct buf out;
	bool big_endian;
	size_t cie;
};

static void put(struct maker *m, uint64_t v, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++) {
		unsigned int at = m->big_endian ? bytes - 1 - i : i;

		buf_put_u8(&m->out, (uint8_t)(v >> (8 * at)));
	}
}

static void put_at(struct maker *m, size_t at, uint32_t v)
{
	size_t end = m->out.len;

	m->out.len = at;
	put(m, v, 4);
	m->out.len = end;
}

/* Writes a CIE with the augmentation `letters`; `encoding` is the value of R. */
static void put_cie(struct maker *m, unsigned int version, const char *letters,
		    uint8_t encoding)
{
	m->cie = m->out.len;
	put(m, 0, 4);
	put(m, 0, 4); /* id */
	put(m, version, 1);
	buf_put(&m->out, letters, strlen(letters) + 1);
	put(m, 1, 1);    /* code alignment */
	put(m, 0x78, 1); /* data alignment: -8 */
	put(m, 16, 1);   /* return address */
	if (letters[0] == 'z')
		put(m,
		    (strchr(letters, 'P') ? 5 : 0) + (strchr(letters, 'L') ? 1 : 0) +
			    (strchr(letters, 'R') ? 1 : 0),
		    1);
	for (const char *l = letters; *l; l++) {
		if (*l == 'P') {
			put(m, PCREL_SDATA4, 1);
			put(m, 0x1234, 4);
		} else if (*l == 'L') {
			put(m, PCREL_SDATA4, 1);
		} else if (*l == 'R') {
			put(m, encoding, 1);
		}
	}
	put(m, 0, 3); /* instructions: nops */
	put_at(m, m->cie, (uint32_t)(m->out.len - m->cie - 4));
}

/* Writes an FDE of the CIE that was written last. */
static void put_fde(struct maker *m, uint64_t start, uint64_t bytes, uint8_t encoding,
		    unsigned int width)
{
	size_t at = m->out.len;

	put(m, 0, 4);
	put(m, at + 4 - m->cie, 4);
	if ((encoding & 0x70) == 0x10)
		start -= VADDR + m->out.len;
	put(m, start, width);
	put(m, bytes, width);
	put(m, 0, 8);
	put_at(m, at, (uint32_t)(m->out.len - at - 4));
}

static void expect(const struct eh_frame *f, uint64_t vaddr, uint64_t start)
{
	const struct eh_function *found = eh_frame_find(f, vaddr);

	if (!start)
		assert_null(found);
	else if (!found || found->start != start)
		fail_msg("0x%lx: 0x%lx, not 0x%lx", vaddr, found ? found->start : 0,
			 start);
}

static struct eh_frame parse(const struct maker *m, bool is64)
{
	static const uint16_t one = 1;
	bool host_is_le = *(const uint8_t *)&one == 1;
	struct eh_frame f;

	assert_int_equal(eh_frame_parse(m->out.data, m->out.len, VADDR, is64,
					m->big_endian == host_is_le, &f),
			 0);
	return f;
}

static void reads_entries_in_any_order(void **state)
{
	(void)state;
	for (unsigned int big = 0; big < 2; big++) {
		struct maker m = { .big_endian = big };
		struct eh_frame f;

		put_cie(&m, 1, "zR", PCREL_SDATA4);
		put_fde(&m, 0x401500, 0x100, PCREL_SDATA4, 4);
		put_fde(&m, 0x401000, 0x40, PCREL_SDATA4, 4);
		put_cie(&m, 3, "zPLR", PCREL_UDATA8);
		put_fde(&m, 0x501000, 0x10, PCREL_UDATA8, 8);
		put_cie(&m, 1, "", 0);
		put_fde(&m, 0x400000, 8, ABSPTR, 8);
		put(&m, 0, 4);
		put_fde(&m, 0x600000, 8, ABSPTR, 8); /* after the terminator */
		f = parse(&m, true);
		assert_int_equal(f.functions.nr, 4);
		expect(&f, 0x3fffff, 0);
		expect(&f, 0x400007, 0x400000);
		expect(&f, 0x400008, 0);
		expect(&f, 0x401000, 0x401000);
		expect(&f, 0x40103f, 0x401000);
		expect(&f, 0x401040, 0);
		expect(&f, 0x4015ff, 0x401500);
		expect(&f, 0x501008, 0x501000);
		expect(&f, 0x600000, 0);
		eh_frame_done(&f);
		buf_done(&m.out);
	}
}

static void reads_32_bit_entries(void **state)
{
	struct maker m = { 0 };
	struct eh_frame f;

	(void)state;
	put_cie(&m, 1, "zR", PCREL_SDATA4);
	put_fde(&m, 0xfffff000, 0x100, PCREL_SDATA4, 4); /* the sum wraps at 32 bits */
	put_cie(&m, 1, "", 0);
	put_fde(&m, 0x8048000, 0x10, ABSPTR, 4);
	f = parse(&m, false);
	assert_int_equal(f.functions.nr, 2);
	expect(&f, 0x804800f, 0x8048000);
	expect(&f, 0xfffff0ff, 0xfffff000);
	eh_frame_done(&f);
	buf_done(&m.out);
}

/* Removed or unsupported entries do not affect others. */
static void skips_odd_entries(void **state)
{
	struct maker m = { 0 };
	struct eh_frame f;
	size_t first;

	(void)state;
	put_cie(&m, 1, "zR", ABSPTR);
	first = m.cie;
	put_fde(&m, 0, 0x40, ABSPTR, 8);
	put_fde(&m, 0x401000, 0, ABSPTR, 8);
	put_fde(&m, 0xffffffffffffff00, 0x200, ABSPTR, 8); /* around the end */
	put_cie(&m, 1, "zR", DATAREL);
	put_fde(&m, 0x401000, 0x20, DATAREL, 4);
	put_cie(&m, 9, "zR too many letters here", ABSPTR);
	put_fde(&m, 0x401000, 0x20, ABSPTR, 8);
	m.cie = 1; /* there is no function */
	put_fde(&m, 0x401000, 0x20, ABSPTR, 8);
	m.cie = first;
	put_fde(&m, 0x401800, 0x20, ABSPTR, 8);
	f = parse(&m, true);
	assert_int_equal(f.functions.nr, 1);
	expect(&f, 0x401800, 0x401800);
	eh_frame_done(&f);
	buf_done(&m.out);
}

static void survives_every_truncation(void **state)
{
	struct maker m = { 0 };

	(void)state;
	put_cie(&m, 1, "zPLR", PCREL_SDATA4);
	put_fde(&m, 0x401000, 0x40, PCREL_SDATA4, 4);
	put_fde(&m, 0x401100, 0x40, PCREL_SDATA4, 4);
	for (size_t len = 0; len <= m.out.len; len++) {
		struct maker cut = { .out = m.out };
		struct eh_frame f;

		cut.out.len = len;
		f = parse(&cut, true);
		assert_true(f.functions.nr <= 2);
		assert_true(f.functions.nr < 2 || len == m.out.len);
		eh_frame_done(&f);
	}
	buf_done(&m.out);
}

static void load(const struct elf_maker *m, struct eh_frame *ret)
{
	struct buf b = { 0 };
	struct elf_file f;

	elf_maker_write(m, &b);
	assert_int_equal(elf_file_init_bytes(&f, b.data, b.len, NULL), 0);
	assert_int_equal(elf_file_sections(&f, NULL), 0);
	assert_int_equal(eh_frame_load(&f, ret), 0);
	elf_file_done(&f);
	buf_done(&b);
}

static void is_found_by_section_and_by_segment(void **state)
{
	const uint64_t at = ELF_MAKER_VADDR + 0x900;
	struct maker frames = { 0 };
	struct maker hdr = { 0 };
	struct elf_maker_section sections[2];
	struct elf_maker m = { .is64 = true, .sections = sections, .nr_sections = 2 };
	struct eh_frame f;

	(void)state;
	put_cie(&frames, 1, "", ABSPTR);
	put_fde(&frames, 0x401000, 0x40, ABSPTR, 8);
	put(&frames, 0, 4);
	/* Version 1, without a table. */
	put(&hdr, 0xffff0001 | (uint32_t)PCREL_SDATA4 << 8, 4);
	put(&hdr, at - (ELF_MAKER_VADDR + 0x804), 4);
	put(&hdr, 0, 8);
	sections[0] = (struct elf_maker_section){ .name = ".eh_frame_hdr",
						  .type = SHT_PROGBITS,
						  .flags = SHF_ALLOC,
						  .vaddr = ELF_MAKER_VADDR + 0x800,
						  .bytes = hdr.out.data,
						  .len = hdr.out.len };
	sections[1] = (struct elf_maker_section){ .name = ".eh_frame",
						  .type = SHT_PROGBITS,
						  .flags = SHF_ALLOC,
						  .vaddr = at,
						  .bytes = frames.out.data,
						  .len = frames.out.len };
	load(&m, &f);
	expect(&f, 0x401000, 0x401000);
	eh_frame_done(&f);
	m.no_sections = true;
	load(&m, &f);
	expect(&f, 0x401000, 0);
	eh_frame_done(&f);
	m.eh_frame_hdr = ELF_MAKER_VADDR + 0x800;
	/* The file ends after .eh_frame, before its segment does. */
	load(&m, &f);
	expect(&f, 0x40103f, 0x401000);
	eh_frame_done(&f);
	buf_done(&frames.out);
	buf_done(&hdr.out);
}

static void handles_allocation_failure(void **state)
{
	struct maker m = { 0 };

	(void)state;
	put_cie(&m, 1, "", ABSPTR);
	for (uint64_t i = 0; i < 100; i++)
		put_fde(&m, 0x402000 - i * 16, 16, ABSPTR, 8);
	for (unsigned long n = 1;; n++) {
		struct eh_frame f;
		bool failed;
		int r;

		alloc_fail_at(n);
		r = eh_frame_parse(m.out.data, m.out.len, VADDR, true, false, &f);
		failed = alloc_fail_off();
		if (!r)
			eh_frame_done(&f);
		if (!failed) {
			assert_int_equal(r, 0);
			assert_true(n > 2);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
	buf_done(&m.out);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(reads_entries_in_any_order),
		cmocka_unit_test(reads_32_bit_entries),
		cmocka_unit_test(skips_odd_entries),
		cmocka_unit_test(survives_every_truncation),
		cmocka_unit_test(is_found_by_section_and_by_segment),
		cmocka_unit_test(handles_allocation_failure),
	};

	return UNIT_RUN(cases);
}
