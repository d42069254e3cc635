/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwinds frames described by .ARM.exidx and .sframe. The ARM instructions are those of
 * Debian's libc, as explained by readelf -u. */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "alloc_fail.h"
#include "base/buf.h"
#include "resolve/unwind/cfi.h"
#include "resolve/unwind/exidx.h"
#include "resolve/unwind/sframe.h"
#include "resolve/unwind/table.h"

/* The generated data is little-endian. */
#define SWAP (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)

enum {
	INDEX = 0x10000,
	EXTRA = 0x11000,
	CODE = 0x8000,
	FUNCTION = 0x100,
	SP = 13,
	LINK = 14,
	NOTHING = 0x7fffffff
};

static uint64_t same(const void *ctx, uint64_t vaddr)
{
	(void)ctx;
	return vaddr;
}

static void put4(struct buf *b, uint32_t v)
{
	for (unsigned int i = 0; i < 4; i++)
		buf_put_u8(b, (uint8_t)(v >> (8 * i)));
}

/* Returns the offset from the CFA at which a register is saved; NOTHING: there is no rule. */
static int32_t saved(const struct unwind_table *t, const struct unwind_set *set,
		     unsigned int slot)
{
	for (unsigned int i = 0; i < set->nr_rules; i++) {
		const struct unwind_rule *rule = &t->rules.at[set->first_rule + i];

		if (rule->slot != slot)
			continue;
		assert_int_equal(rule->how, UNWIND_AT_CFA);
		return rule->value;
	}
	return NOTHING;
}

/* ---- ARM ---- */

/* Makes a table of one function per entry; `extra`: the second word is an offset in .ARM.extab. */
static struct unwind_table *arm(const uint32_t *words, const bool *extra, size_t nr,
				const uint32_t *extab, size_t nr_extab)
{
	struct buf index = { 0 }, more = { 0 };
	struct exidx x = { .swap = SWAP };
	const struct unwind_sources from = { .exidx = &x };
	struct unwind_table *t;

	for (size_t i = 0; i < nr; i++) {
		uint32_t at = INDEX + 8 * (uint32_t)i;

		put4(&index, (CODE + FUNCTION * (uint32_t)i - at) & 0x7fffffff);
		put4(&index,
		     extra[i] ? (EXTRA + words[i] - at - 4) & 0x7fffffff : words[i]);
	}
	for (size_t i = 0; i < nr_extab; i++)
		put4(&more, extab[i]);
	x.index = (struct exidx_section){ (uint8_t *)index.data, index.len, INDEX };
	x.extra = (struct exidx_section){ (uint8_t *)more.data, more.len, EXTRA };
	assert_int_equal(unwind_table_compile_all(unwind_arch_of_elf(EM_ARM, false),
						  &from, same, NULL, &t),
			 0);
	buf_done(&index);
	buf_done(&more);
	return t;
}

static const struct unwind_set *function(const struct unwind_table *t, unsigned int i)
{
	return unwind_table_find(t, CODE + FUNCTION * i + 0x10);
}

static void expect_frame(const struct unwind_set *set, uint8_t reg, int32_t offset)
{
	assert_int_equal(set->base, UNWIND_BASE_REG);
	assert_int_equal(set->reg, reg);
	assert_int_equal(set->offset, offset);
	assert_int_equal(set->return_slot, LINK);
}

static void reads_inline_arm_entries(void **state)
{
	static const uint32_t words[] = {
		0x8002afb0, /* vsp += 12; pop {r4-r11, r14} */
		1,          /* cannot be unwound */
		0x80b108b0, /* pop {r3} */
		0x809bb0b0, /* vsp = r11 */
		0x808008b0, /* pop {r7}: the return address stays in its register */
	};
	static const bool extra[5] = { false };
	struct unwind_table *t = arm(words, extra, 5, NULL, 0);

	(void)state;
	expect_frame(function(t, 0), SP, 48);
	assert_int_equal(saved(t, function(t, 0), 4), -36);
	assert_int_equal(saved(t, function(t, 0), 11), -8);
	assert_int_equal(saved(t, function(t, 0), LINK), -4);
	assert_int_equal(function(t, 1)->base, UNWIND_NONE);
	expect_frame(function(t, 2), SP, 4);
	assert_int_equal(saved(t, function(t, 2), 3), -4);
	expect_frame(function(t, 3), 11, 0);
	expect_frame(function(t, 4), SP, 4);
	assert_int_equal(saved(t, function(t, 4), LINK), NOTHING);
	unwind_table_free(t);
}

static void reads_arm_entries_in_extab(void **state)
{
	static const uint32_t words[] = { 0, 8, 20 };
	static const bool extra[] = { true, true, true };
	static const uint32_t extab[] = {
		0x81010c3f, 0x8400b0b0, /* index 1: vsp += 52 + 256; pop {r14} */
		0x7fff0000, 0x01b205c9,
		0x838400b0, /* C++: vsp += 0x204 + 20; 4 of VFP;
							pop {r14} */
		0x8002b0b0, /* index 0: vsp += 12 */
	};
	struct unwind_table *t = arm(words, extra, 3, extab, 6);

	(void)state;
	expect_frame(function(t, 0), SP, 312);
	assert_int_equal(saved(t, function(t, 0), LINK), -4);
	expect_frame(function(t, 1), SP, 0x204 + 20 + 32 + 4);
	assert_int_equal(saved(t, function(t, 1), LINK), -4);
	expect_frame(function(t, 2), SP, 12);
	unwind_table_free(t);
}

static void rejects_invalid_arm_entries(void **state)
{
	static const uint32_t words[] = {
		0x808000b0, /* refuses */
		0x80b100b0, /* pops nothing */
		0x809fb0b0, /* vsp = pc */
		0x80a89bb0, /* vsp = r11 after something was popped */
		0x83b0b0b0, /* no such index */
		64,         /* after the end */
	};
	static const bool extra[] = { false, false, false, false, false, true };
	struct unwind_table *t = arm(words, extra, 6, NULL, 0);

	(void)state;
	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal(function(t, i)->base, UNWIND_NONE);
	unwind_table_free(t);
}

/* ---- .sframe ---- */

static void put_header(struct buf *b, uint8_t version, uint8_t flags, uint8_t abi,
		       uint32_t function_bytes)
{
	put4(b, 0xdee2U | (uint32_t)version << 16 | (uint32_t)flags << 24);
	/* The return address of x86-64 is always at CFA - 8. */
	put4(b, abi | (abi == 3 ? 0xf8U << 16 : 0));
	put4(b, 1);
	put4(b, 0); /* flags that are only for writers */
	put4(b, 0);
	put4(b, 0);
	put4(b, function_bytes);
}

static struct unwind_table *sframe(const struct buf *b, uint16_t machine)
{
	const struct unwind_arch *arch = unwind_arch_of_elf(machine, true);
	struct sframe s;
	const struct unwind_sources from = { .sframe = &s };
	struct unwind_table *t;

	assert_true(sframe_open(&s, arch, b->data, b->len, CODE, SWAP));
	assert_int_equal(unwind_table_compile_all(arch, &from, same, NULL, &t), 0);
	return t;
}

/* push %rbp; mov %rsp, %rbp; ... pop; ret: as written by the assembler of binutils 2.40. */
static const uint8_t pushes[] = { 0, 3,  8,    1,    5, 16, 0xf0, 4,
				  4, 16, 0xf0, 0x1f, 5, 8,  0xf0 };

static void expect_pushes(const struct unwind_table *t, uint64_t start)
{
	static const struct {
		uint8_t at, reg, cfa;
		int32_t rbp;
	} rows[] = { { 0, 7, 8, NOTHING },
		     { 1, 7, 16, -16 },
		     { 4, 6, 16, -16 },
		     { 0x1f, 7, 8, -16 } };

	for (size_t i = 0; i < 4; i++) {
		const struct unwind_set *set = unwind_table_find(t, start + rows[i].at);

		assert_int_equal(set->reg, rows[i].reg);
		assert_int_equal(set->offset, rows[i].cfa);
		assert_int_equal(saved(t, set, 6), rows[i].rbp);
		assert_int_equal(saved(t, set, 16), -8);
	}
	assert_int_equal(unwind_table_find(t, start + 0x20)->base, UNWIND_NONE);
}

static void reads_all_sframe_versions(void **state)
{
	for (uint8_t version = 1; version <= 3; version++) {
		struct buf b = { 0 };
		struct unwind_table *t;

		(void)state;
		put_header(&b, version, 0, 3,
			   version == 1   ? 17
			   : version == 2 ? 20
					  : 16);
		put4(&b, 0x1000);
		if (version == 3)
			put4(&b, 0); /* addresses have eight bytes */
		put4(&b, 0x20);
		put4(&b, 0);
		if (version < 3)
			put4(&b, 4);
		if (version == 1)
			buf_put_u8(&b, 0);
		if (version == 2)
			put4(&b, 0);
		if (version == 3)
			buf_put(&b, "\4\0\0\0\0", 5);
		buf_put(&b, pushes, sizeof(pushes));
		t = sframe(&b, EM_X86_64);
		expect_pushes(t, CODE + 0x1000);
		unwind_table_free(t);
		buf_done(&b);
	}
}

/* A table of stubs: all have the rows of the first. */
static void reads_sframe_of_plt_stubs(void **state)
{
	static const uint8_t rows[] = { 0, 3, 8, 6, 3, 16 };
	struct buf b = { 0 };
	struct unwind_table *t;

	(void)state;
	put_header(&b, 2, 0, 3, 20);
	put4(&b, 0x1000);
	put4(&b, 0x40);
	put4(&b, 0);
	put4(&b, 2);
	put4(&b, 0x10 | 16 << 8);
	buf_put(&b, rows, sizeof(rows));
	t = sframe(&b, EM_X86_64);
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t at = CODE + 0x1000 + 16 * i;

		assert_int_equal(unwind_table_find(t, at + 5)->offset, 8);
		assert_int_equal(unwind_table_find(t, at + 6)->offset, 16);
	}
	unwind_table_free(t);
	buf_done(&b);
}

/* The offsets: CFA, return address, frame pointer. Addresses are relative to their own field. */
static void reads_sframe_of_aarch64(void **state)
{
	static const uint8_t rows[] = { 0, 0, 3, 0, 4, 0, 7, 32, 0xe8, 0xe0 };
	const struct unwind_set *set;
	struct buf b = { 0 };
	struct unwind_table *t;

	(void)state;
	put_header(&b, 2, 4, 2, 20);
	put4(&b, 0x1000);
	put4(&b, 0x40);
	put4(&b, 0);
	put4(&b, 2);
	put4(&b, 1);
	buf_put(&b, rows, sizeof(rows));
	t = sframe(&b, EM_AARCH64);
	set = unwind_table_find(t, CODE + 28 + 0x1000);
	assert_int_equal(set->reg, 31);
	assert_int_equal(saved(t, set, 30), NOTHING);
	set = unwind_table_find(t, CODE + 28 + 0x1004);
	assert_int_equal(set->offset, 32);
	assert_int_equal(saved(t, set, 30), -24);
	assert_int_equal(saved(t, set, 29), -32);
	unwind_table_free(t);
	buf_done(&b);
}

static void rejects_invalid_sframe(void **state)
{
	const struct unwind_arch *arch = unwind_arch_of_elf(EM_X86_64, true);
	struct buf b = { 0 };
	struct sframe s;

	(void)state;
	assert_false(sframe_open(&s, arch, "", 0, 0, SWAP));
	put_header(&b, 4, 0, 3, 0);
	assert_false(sframe_open(&s, arch, b.data, b.len, 0, SWAP));
	b.len = 0;
	put_header(&b, 2, 0, 2, 0);
	assert_false(sframe_open(&s, arch, b.data, b.len, 0, SWAP));
	buf_done(&b);
}

static void handles_allocation_failure(void **state)
{
	static const uint32_t words[] = { 0x8002afb0 };
	static const bool extra[] = { false };
	static const uint8_t index[8] = {
		0x00, 0x80, 0xff, 0x7f, 0xb0, 0xaf, 0x02, 0x80
	};
	struct exidx x = { .swap = SWAP, .index = { index, sizeof(index), INDEX } };
	const struct unwind_sources from = { .exidx = &x };

	(void)state;
	unwind_table_free(arm(words, extra, 1, NULL, 0));
	for (unsigned long n = 1;; n++) {
		struct unwind_table *t = NULL;
		int r;

		alloc_fail_at(n);
		r = unwind_table_compile_all(unwind_arch_of_elf(EM_ARM, false), &from,
					     same, NULL, &t);
		if (!alloc_fail_off()) {
			assert_int_equal(r, 0);
			unwind_table_free(t);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_inline_arm_entries),
		cmocka_unit_test(reads_arm_entries_in_extab),
		cmocka_unit_test(rejects_invalid_arm_entries),
		cmocka_unit_test(reads_all_sframe_versions),
		cmocka_unit_test(reads_sframe_of_plt_stubs),
		cmocka_unit_test(reads_sframe_of_aarch64),
		cmocka_unit_test(rejects_invalid_sframe),
		cmocka_unit_test(handles_allocation_failure),
	};

	return UNIT_RUN(tests);
}
