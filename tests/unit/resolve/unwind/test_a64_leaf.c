/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Callers in AArch64 code without unwind information, by the link register. */
#include "unit.h"

#include <elf.h>

#include "resolve/unwind/a64_leaf.h"
#include "resolve/unwind/bare.h"
#include "resolve/unwind/unwind.h"

enum {
	CODE = 0x400000
};

/* clang-format off */
static const uint32_t code[] = {
	0xd503245f, /* 00 the leaf: bti c */
	0xb40000a1, /* 04 cbz x1, 0x18 */
	0x38401402, /* 08 ldrb w2, [x0], #1 */
	0x8b020063, /* 0c add x3, x3, x2 */
	0xf1000421, /* 10 subs x1, x1, #1 */
	0x54ffffa1, /* 14 b.ne 0x8 */
	0xaa0303e0, /* 18 mov x0, x3 */
	0xd65f03c0, /* 1c ret */
	0xa9be7bfd, /* 20 the caller: stp x29, x30, [sp, #-32]! */
	0x910003fd, /* 24 mov x29, sp */
	0x97fffff6, /* 28 bl 0 */
	0x94000005, /* 2c bl 0x40 */
	0xd63f0060, /* 30 blr x3 */
	0x94000007, /* 34 bl 0x50 */
	0xa8c27bfd, /* 38 ldp x29, x30, [sp], #32 */
	0xd65f03c0, /* 3c ret */
	0xb0000010, /* 40 the PLT entry: adrp x16, 0x1000 */
	0xf9400e11, /* 44 ldr x17, [x16, #24] */
	0x91006210, /* 48 add x16, x16, #24 */
	0xd61f0220, /* 4c br x17 */
	0xd10083ff, /* 50 a leaf with a frame: sub sp, sp, #32 */
	0x3d8007e0, /* 54 str q0, [sp, #16] */
	0xf84107e9, /* 58 ldr x9, [sp], #16 */
	0x910043ff, /* 5c add sp, sp, #16 */
	0xd65f0bff, /* 60 retaa */
	0xf81f0ffe, /* 64 not a leaf: str x30, [sp, #-16]! */
	0x97ffffe6, /* 68 bl 0 */
	0xf84107fe, /* 6c ldr x30, [sp], #16 */
	0xd65f03c0, /* 70 ret */
	0xaa0503fe, /* 74 others: mov x30, x5 */
	0xd65f03c0, /* 78 ret */
	0x9100007f, /* 7c mov sp, x3 */
	0xd65f03c0, /* 80 ret */
	0x927cec7f, /* 84 and sp, x3, #-16 */
	0x8b2363ff, /* 88 add sp, sp, x3 */
	0xacc107e0, /* 8c ldp q0, q1, [sp], #32 */
	0x361ffb80, /* 90 tbz w0, #3, 0 */
	0xd61f00a0, /* 94 br x5 */
	0xd65f00a0, /* 98 ret x5 */
	0x00000000, /* 9c udf */
	0xf81f0fe1, /* a0 str x1, [sp, #-16]! */
};
/* clang-format on */

static size_t test_a64_read(void *ctx, uint64_t address, uint8_t *ret_bytes, size_t len)
{
	(void)ctx;
	if (address < CODE || address - CODE >= sizeof(code))
		return 0;
	if (len > sizeof(code) - (address - CODE))
		len = (size_t)(sizeof(code) - (address - CODE));
	for (size_t i = 0; i < len; i++) {
		const size_t at = (size_t)(address - CODE) + i;

		ret_bytes[i] = (uint8_t)(code[at / 4] >> at % 4 * 8);
	}
	return len;
}

/* Returns the distance to the caller's stack pointer, or -1 if the call is not proved. */
static int64_t leaf_sp(uint64_t pc, uint64_t link)
{
	const struct unwind_bare_ops ops = { .code = test_a64_read };
	int64_t sp = 0;

	return a64_leaf_caller(&ops, CODE + pc, CODE + link, &sp) ? sp : -1;
}

static void the_link_register_is_proved_by_the_call(void **state)
{
	(void)state;
	for (uint64_t pc = 0; pc <= 0x1c; pc += 4) {
		/* The link register is after a call of this function, of a PLT entry, or of an
		 * unknown address. */
		assert_int_equal(leaf_sp(pc, 0x2c), 0);
		assert_int_equal(leaf_sp(pc, 0x30), 0);
		assert_int_equal(leaf_sp(pc, 0x34), 0);
		/* The link register is after a call of another function, and after no call. */
		assert_int_equal(leaf_sp(pc, 0x38), -1);
		assert_int_equal(leaf_sp(pc, 0x28), -1);
		assert_int_equal(leaf_sp(pc, 0x20), -1);
		assert_int_equal(leaf_sp(pc, 2), -1);
		assert_int_equal(leaf_sp(pc, 0x100000), -1);
	}
}

static void the_frame_of_a_leaf_is_removed(void **state)
{
	static const int64_t sps[] = { 0, 32, 32, 16, 0 };

	(void)state;
	for (uint64_t i = 0; i < 5; i++)
		assert_int_equal(leaf_sp(0x50 + 4 * i, 0x38), sps[i]);
	/* The call is indirect, so only the code up to the return decides. */
	assert_int_equal(leaf_sp(0x8c, 0x34), 32);
}

static void a_changed_link_register_proves_nothing(void **state)
{
	(void)state;
	/* The function calls another one, and loads the register from the stack. */
	assert_int_equal(leaf_sp(0x64, 0x34), -1);
	assert_int_equal(leaf_sp(0x68, 0x34), -1);
	assert_int_equal(leaf_sp(0x6c, 0x34), -1);
	assert_int_equal(leaf_sp(0x70, 0x34), 0);
	/* The stack pointer or the register gets another value, or the code ends. */
	assert_int_equal(leaf_sp(0x74, 0x34), -1);
	assert_int_equal(leaf_sp(0x7c, 0x34), -1);
	assert_int_equal(leaf_sp(0x84, 0x34), -1);
	assert_int_equal(leaf_sp(0x88, 0x34), -1);
	assert_int_equal(leaf_sp(0x94, 0x34), -1);
	assert_int_equal(leaf_sp(0x98, 0x34), -1);
	assert_int_equal(leaf_sp(0x9c, 0x34), -1);
	assert_int_equal(leaf_sp(0xa0, 0x34), -1);
	assert_int_equal(leaf_sp(0x1000, 0x34), -1);
}

/* ---- stacks ---- */

static enum unwind_code find_code(void *ctx, uint64_t pc,
				  const struct unwind_table **ret_table,
				  uint64_t *ret_offset)
{
	(void)ctx;
	*ret_table = NULL;
	*ret_offset = pc - CODE;
	return pc >= CODE && pc < CODE + sizeof(code) ? UNWIND_CODE_WITHOUT
						      : UNWIND_CODE_NOWHERE;
}

static struct unwind_bare *give_code(void *ctx, struct unwind_bare_ops *ret_code,
				     uint64_t *ret_space)
{
	*ret_code = (struct unwind_bare_ops){ .code = test_a64_read };
	*ret_space = 1;
	return ctx;
}

/* Unwinds a stack whose caller has a frame pointer. Returns the number of frames. */
static size_t unwind_leaf(uint64_t pc, uint64_t link, uint64_t pcs[4])
{
	/* The record of the caller: no further frame, and no return address. */
	static const uint8_t stack[64];
	const struct unwind_window window = { stack, sizeof(stack), 0x7000, false };
	struct unwind_bare *bare;
	struct unwind_ops ops = { .find = find_code, .bare = give_code };
	struct unwind_regs regs = { .pc = CODE + pc };
	const struct unwind_arch *arch = unwind_arch_of_elf(EM_AARCH64, true);
	size_t nr = 0;

	assert_int_equal(unwind_bare_new(&bare), 0);
	ops.ctx = bare;
	regs.at[arch->sp] = regs.at[arch->fp] = 0x7000;
	/* The link register has a pointer authentication code. */
	regs.at[arch->link] = (CODE + link) | 0x12ULL << 56;
	regs.known = 1ULL << arch->sp | 1ULL << arch->fp | 1ULL << arch->link;
	assert_int_equal(unwind_stack(&(struct unwind_moment){ arch, &window, &ops,
							       &regs, NULL },
				      pcs, 4, &nr),
			 UNWIND_END_ROOT);
	unwind_bare_free(bare);
	return nr;
}

static void a_leaf_has_its_caller(void **state)
{
	uint64_t pcs[4];

	(void)state;
	assert_int_equal(unwind_leaf(0x8, 0x2c, pcs), 2);
	assert_int_equal(pcs[0], CODE + 0x8);
	assert_int_equal(pcs[1], CODE + 0x2c);
	/* Without a proof, the frame pointer decides. */
	assert_int_equal(unwind_leaf(0x8, 0x38, pcs), 1);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(the_link_register_is_proved_by_the_call),
		cmocka_unit_test(the_frame_of_a_leaf_is_removed),
		cmocka_unit_test(a_changed_link_register_proves_nothing),
		cmocka_unit_test(a_leaf_has_its_caller),
	};

	return UNIT_RUN(cases);
}
