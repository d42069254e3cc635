/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwind rules for code without any: the start of programs, .init and .fini, the system call
 * that creates a thread, and the one that ends a signal. */
#include "unit.h"

#include <elf.h>
#include <string.h>

#include "resolve/elf/elf_maker.h"
#include "resolve/elf/file.h"
#include "resolve/unwind/cfi.h"
#include "resolve/unwind/table.h"
#include "resolve/unwind/unwind.h"

enum {
	RSP = 7,
	RAX = 0,
	RIP = 16,
	ESP = 4,
	INIT = ELF_MAKER_VADDR + 0x100,
	FINI = ELF_MAKER_VADDR + 0x200,
	INIT_AT = ELF_MAKER_OFFSET + 0x100,
	FINI_AT = ELF_MAKER_OFFSET + 0x200,
	STACK = 0x7000,
	CALLER = 0x1008
};

/* As in current crti.o and crtn.o; the second one is built for indirect branch tracking. */
static const uint8_t init64[] = {
	0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x08, 0x48, 0x8b, 0x05, 0xc5, 0x2f, 0,
	0,    0x48, 0x85, 0xc0, 0x74, 0x02, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3
};
static const uint8_t fini64[] = { 0x48, 0x83, 0xec, 8, 0x48, 0x83, 0xc4, 8, 0xc3 };
static const uint8_t fini32[] = { 0x53, 0x83, 0xec, 8,    0xe8, 0,    0,
				  0,    0,    0x83, 0xc4, 8,    0x5b, 0xc3 };

static struct unwind_table *load(const struct elf_maker *m)
{
	struct buf b = { 0 };
	struct unwind_table *t;
	struct elf_file f;

	elf_maker_write(m, &b);
	assert_int_equal(elf_file_init_bytes(&f, b.data, b.len, NULL), 0);
	assert_int_equal(elf_file_sections(&f, NULL), 0);
	assert_int_equal(unwind_table_load(&f, NULL, &t), 0);
	elf_file_done(&f);
	buf_done(&b);
	return t;
}

static void expect(const struct unwind_table *t, uint64_t offset, unsigned int reg,
		   int32_t add)
{
	const struct unwind_set *set = unwind_table_find(t, offset);

	assert_int_equal(set->base, UNWIND_BASE_REG);
	assert_int_equal(set->reg, reg);
	assert_int_equal(set->offset, add);
}

static struct elf_maker_section code(const char *name, uint64_t vaddr,
				     const uint8_t *bytes, size_t len)
{
	return (struct elf_maker_section){ .name = name,
					   .type = SHT_PROGBITS,
					   .flags = SHF_ALLOC | SHF_EXECINSTR,
					   .vaddr = vaddr,
					   .bytes = bytes,
					   .len = len };
}

static void unwinds_init_and_fini(void **state)
{
	const struct elf_maker_section sections[] = {
		code(".init", INIT, init64, sizeof(init64)),
		code(".fini", FINI, fini64, sizeof(fini64)),
	};
	struct elf_maker m = { .is64 = true,
			       .machine = EM_X86_64,
			       .sections = sections,
			       .nr_sections = 2 };
	struct unwind_table *t = load(&m);

	(void)state;
	expect(t, INIT_AT + 4, RSP, 8);
	expect(t, INIT_AT + 7, RSP, 8);
	expect(t, INIT_AT + 8, RSP, 16);
	expect(t, INIT_AT + 22, RSP, 16);
	expect(t, INIT_AT + 26, RSP, 8); /* ret */
	assert_int_equal(unwind_table_find(t, INIT_AT + 27)->base, UNWIND_NONE);
	expect(t, FINI_AT, RSP, 8);
	expect(t, FINI_AT + 4, RSP, 16);
	expect(t, FINI_AT + 8, RSP, 8);
	unwind_table_free(t);
	/* Other code gets no rules. */
	m.machine = EM_386;
	m.is64 = false;
	t = load(&m);
	assert_int_equal(t->rows.nr, 0);
	unwind_table_free(t);
}

static void unwinds_fini_of_32_bits(void **state)
{
	const struct elf_maker_section section =
		code(".fini", FINI, fini32, sizeof(fini32));
	const struct elf_maker m = { .machine = EM_386,
				     .sections = &section,
				     .nr_sections = 1 };
	struct unwind_table *t = load(&m);

	(void)state;
	expect(t, FINI_AT, ESP, 4);
	expect(t, FINI_AT + 1, ESP, 8);
	expect(t, FINI_AT + 4, ESP, 16);
	expect(t, FINI_AT + 11, ESP, 16);
	expect(t, FINI_AT + 12, ESP, 8); /* pop */
	expect(t, FINI_AT + 13, ESP, 4);
	assert_int_equal(unwind_table_find(t, FINI_AT + 12)->nr_rules, 2);
	assert_int_equal(unwind_table_find(t, FINI_AT + 13)->nr_rules, 1);
	unwind_table_free(t);
}

/* ---- between functions ---- */

/* Writes a .debug_frame for x86-64; each function has one rule instruction. */
static void put_fde(struct buf *b, uint64_t start, uint64_t bytes, const char *program)
{
	buf_put_u32(b, 24);
	buf_put_u32(b, 0);
	buf_put_u64(b, start);
	buf_put_u64(b, bytes);
	buf_put(b, program, 4);
}

static bool read_clone(const void *ctx, uint64_t offset, uint8_t *ret_bytes, size_t len)
{
	static const uint8_t bytes[] = { 0x0f, 5,    0x48, 0x85, 0xc0,
					 0x7c, 0x13, 0x74, 1,    0xc3 };

	(void)ctx;
	if (offset != 0x1130 || len != sizeof(bytes))
		return false;
	memcpy(ret_bytes, bytes, len);
	return true;
}

static uint64_t same(const void *ctx, uint64_t vaddr)
{
	(void)ctx;
	return vaddr;
}

static struct unwind_table *compile(bool is_signal, uint64_t entry)
{
	struct buf b = { 0 };
	struct cfi_walk walk;
	struct unwind_sources from = {
		.walks = &walk, .nr_walks = 1, .entry = entry, .read = read_clone
	};
	struct unwind_table *t;

	buf_put_u32(&b, 18);
	buf_put_u32(&b, UINT32_MAX);
	buf_put(&b,
		is_signal ? "\x01zS\0\x01\x78\x10\0\x0c\x07\x08\x90\x01\0"
			  : "\x01\0\x01\x78\x10\x0c\x07\x08\x90\x01\0\0\0\0",
		14);
	put_fde(&b, 0x1000, 0x40, "\0\0\0");
	put_fde(&b, 0x1100, 0x30, "\0\0\0");
	put_fde(&b, 0x113a, 0x10, "\x07\x10\0");
	walk = cfi_walk_of(b.data, b.len, 0, true,
			   __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__, true);
	assert_int_equal(unwind_table_compile_all(unwind_arch_of_elf(EM_X86_64, true),
						  &from, same, NULL, &t),
			 0);
	buf_done(&b);
	return t;
}

static enum unwind_code find(void *ctx, uint64_t pc,
			     const struct unwind_table **ret_table,
			     uint64_t *ret_offset)
{
	*ret_table = ctx;
	*ret_offset = pc;
	return pc >= 0x1000 && pc < 0x2000 ? UNWIND_CODE_WITH_TABLE
					   : UNWIND_CODE_NOWHERE;
}

/* Returns the frames of a moment in clone(), whose caller has no frame. */
static size_t frames(struct unwind_table *t, uint64_t pc, uint64_t rax,
		     enum unwind_end *ret_end)
{
	const uint64_t stack[] = { CALLER, 0, 0, 0 };
	const struct unwind_window window = { .bytes = (const uint8_t *)stack,
					      .len = sizeof(stack),
					      .start = STACK };
	const struct unwind_ops ops = { .find = find, .ctx = t };
	struct unwind_regs regs = { .known = 1U << RSP | 1U << RAX, .pc = pc };
	const struct unwind_moment m = { t->arch, &window, &ops, &regs, NULL };
	uint64_t pcs[4];
	size_t nr;

	regs.at[RSP] = STACK;
	regs.at[RAX] = rax;
	*ret_end = unwind_stack(&m, pcs, 4, &nr);
	if (nr > 1)
		assert_int_equal(pcs[1], CALLER);
	return nr;
}

static void unwinds_both_threads_of_clone(void **state)
{
	struct unwind_table *t = compile(false, 0);
	enum unwind_end end;

	(void)state;
	/* The caller: before the system call, during it, and after it. */
	assert_int_equal(frames(t, 0x112f, 0, &end), 2);
	assert_int_equal(frames(t, 0x1130, 0, &end), 2);
	assert_int_equal(frames(t, 0x1132, (uint64_t)-38, &end), 2);
	assert_int_equal(frames(t, 0x1139, 4711, &end), 2);
	assert_int_equal(end, UNWIND_END_ROOT);
	/* The new thread: its stack has no return address. */
	assert_int_equal(frames(t, 0x1132, 0, &end), 1);
	assert_int_equal(end, UNWIND_END_ROOT);
	assert_int_equal(frames(t, 0x113a, 0, &end), 1);
	assert_int_equal(end, UNWIND_END_ROOT);
	unwind_table_free(t);
}

static void stops_at_the_entry_of_a_program(void **state)
{
	struct unwind_table *t = compile(false, 0x1050);
	enum unwind_end end;

	(void)state;
	assert_int_equal(frames(t, 0x104f, 1, &end), 1);
	assert_int_equal(end, UNWIND_END_NO_RULE);
	assert_int_equal(frames(t, 0x1050, 1, &end), 1);
	assert_int_equal(end, UNWIND_END_ROOT);
	assert_int_equal(frames(t, 0x10ff, 1, &end), 1);
	assert_int_equal(end, UNWIND_END_ROOT);
	unwind_table_free(t);
	/* The start code gets no rule if no function follows that would limit it, or if it is in a
	 * function. */
	for (uint64_t entry = 0x1130; entry < 0x1150; entry += 0x1f) {
		struct unwind_table *before = compile(false, 0),
				    *with = compile(false, entry);

		assert_int_equal(with->rows.nr, before->rows.nr);
		unwind_table_free(before);
		unwind_table_free(with);
	}
}

/* rt_sigreturn() is the last instruction; meanwhile the program counter is after it. */
static void unwinds_the_return_from_a_signal(void **state)
{
	struct unwind_table *t = compile(true, 0);

	(void)state;
	assert_true(unwind_table_find(t, 0x1040)->is_signal);
	assert_int_equal(unwind_table_find(t, 0x1041)->base, UNWIND_NONE);
	unwind_table_free(t);
	t = compile(false, 0);
	assert_int_equal(unwind_table_find(t, 0x1040)->base, UNWIND_NONE);
	unwind_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unwinds_init_and_fini),
		cmocka_unit_test(unwinds_fini_of_32_bits),
		cmocka_unit_test(unwinds_both_threads_of_clone),
		cmocka_unit_test(stops_at_the_entry_of_a_program),
		cmocka_unit_test(unwinds_the_return_from_a_signal),
	};

	return UNIT_RUN(tests);
}
