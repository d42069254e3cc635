/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "alloc_fail.h"
#include "base/buf.h"
#include "resolve/unwind/cfi.h"
#include "resolve/unwind/expr.h"
#include "resolve/unwind/table.h"
#include "resolve/unwind/unwind.h"

enum {
	STACK = 0x7000,
	STACK_WORDS = 16,
	FRAMES_MAX = 8,
	RBP = 6,
	RSP = 7
};

/* ---- making .eh_frame sections ---- */

static void put4(struct buf *b, uint32_t v)
{
	for (unsigned int i = 0; i < 4; i++)
		buf_put_u8(b, (uint8_t)(v >> (8 * i)));
}

static void put_at(struct buf *b, size_t at, uint32_t v)
{
	for (unsigned int i = 0; i < 4; i++)
		b->data[at + i] = (uint8_t)(v >> (8 * i));
}

struct cie {
	const char *letters; /* "R": addresses are absolute, 4 bytes */
	uint8_t code_align;
	uint8_t data_align; /* one byte of LEB128 */
	uint8_t return_register;
};

static size_t put_cie(struct buf *b, struct cie cie, const char *program, size_t len)
{
	size_t at = b->len;

	put4(b, 0);
	put4(b, 0);
	buf_put_u8(b, 1);
	buf_put_u8(b, 'z');
	buf_put(b, cie.letters, strlen(cie.letters) + 1);
	buf_put_u8(b, cie.code_align);
	buf_put_u8(b, cie.data_align);
	buf_put_u8(b, cie.return_register);
	buf_put_u8(b, 1);
	buf_put_u8(b, 0x03); /* DW_EH_PE_udata4 */
	buf_put(b, program, len);
	put_at(b, at, (uint32_t)(b->len - at - 4));
	return at;
}

static void put_fde(struct buf *b, size_t cie, uint32_t start, uint32_t bytes,
		    const char *program, size_t len)
{
	size_t at = b->len;

	put4(b, 0);
	put4(b, (uint32_t)(at + 4 - cie));
	put4(b, start);
	put4(b, bytes);
	buf_put_u8(b, 0);
	buf_put(b, program, len);
	put_at(b, at, (uint32_t)(b->len - at - 4));
}
#define FDE(b, cie, start, bytes, program)                                             \
	put_fde(b, cie, start, bytes, program, sizeof(program) - 1)

/* The file offset of code is half its address. */
static uint64_t half(const void *ctx, uint64_t vaddr)
{
	(void)ctx;
	return vaddr / 2;
}

static uint64_t same(const void *ctx, uint64_t vaddr)
{
	(void)ctx;
	return vaddr;
}

static struct unwind_table *compile(const struct buf *b, uint16_t machine, bool is64)
{
	const struct unwind_arch *arch = unwind_arch_of_elf(machine, is64);
	struct cfi_walk walk =
		cfi_walk_of(b->data, b->len, 0, is64,
			    __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__, false);
	struct unwind_table *t;

	assert_non_null(arch);
	assert_int_equal(unwind_table_compile(arch, &walk, 1, same, NULL, &t), 0);
	return t;
}

/* A function that pushes its frame pointer, its caller, and the first function of a thread. */
static const struct cie x86 = { "R", 1, 0x78, 16 };
#define X86_CIE                                                                        \
	"\x0c\x07\x08\x90\x01" /* CFA is rsp + 8, the return address at CFA - 8 */

static void put_x86(struct buf *b)
{
	size_t cie = put_cie(b, x86, X86_CIE, 5);

	/* push %rbp; mov %rsp, %rbp; ... pop; ret */
	FDE(b, cie, 0x1000, 0x20,
	    "\x41\x0e\x10\x86\x02\x43\x0d\x06\x0a\x58\xc6\x0c\x07\x08\x41\x0b");
	FDE(b, cie, 0x1100, 0x10, "\x44\x0e\x20");
	FDE(b, cie, 0x1110, 0x10, "\x07\x10");
}

static void expect_cfa(const struct unwind_table *t, uint64_t offset, uint8_t reg,
		       int32_t add)
{
	const struct unwind_set *set = unwind_table_find(t, offset);

	assert_int_equal(set->base, UNWIND_BASE_REG);
	assert_int_equal(set->reg, reg);
	assert_int_equal(set->offset, add);
}

static void finds_the_rows_of_a_function(void **state)
{
	struct buf b = { 0 };
	struct unwind_table *t;

	(void)state;
	put_x86(&b);
	t = compile(&b, EM_X86_64, true);
	assert_int_equal(unwind_table_find(t, 0xfff)->base, UNWIND_NONE);
	expect_cfa(t, 0x1000, RSP, 8);
	expect_cfa(t, 0x1001, RSP, 16);
	expect_cfa(t, 0x1003, RSP, 16);
	expect_cfa(t, 0x1004, RBP, 16);
	expect_cfa(t, 0x101b, RBP, 16);
	expect_cfa(t, 0x101c, RSP, 8); /* after the ret */
	expect_cfa(t, 0x101d, RBP, 16);
	assert_int_equal(unwind_table_find(t, 0x1020)->base, UNWIND_NONE);
	assert_int_equal(unwind_table_find(t, 0x10ff)->base, UNWIND_NONE);
	expect_cfa(t, 0x1103, RSP, 8);
	expect_cfa(t, 0x1104, RSP, 32);
	assert_int_equal(unwind_table_find(t, 0x1120)->base, UNWIND_NONE);
	assert_int_equal(unwind_table_find(t, UINT64_MAX)->base, UNWIND_NONE);
	/* rbp is not saved before the push, nor after the pop. */
	assert_int_equal(unwind_table_find(t, 0x1000)->nr_rules, 1);
	assert_int_equal(unwind_table_find(t, 0x1001)->nr_rules, 2);
	assert_int_equal(unwind_table_find(t, 0x101c)->nr_rules, 1);
	/* Equal rules share one set, wherever they apply. */
	assert_ptr_equal(unwind_table_find(t, 0x1000), unwind_table_find(t, 0x1100));
	unwind_table_free(t);
	buf_done(&b);
}

static void converts_addresses_to_offsets(void **state)
{
	const struct unwind_arch *arch = unwind_arch_of_elf(EM_X86_64, true);
	struct buf b = { 0 };
	struct cfi_walk walk;
	struct unwind_table *t;

	(void)state;
	put_x86(&b);
	walk = cfi_walk_of(b.data, b.len, 0, true,
			   __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__, false);
	assert_int_equal(unwind_table_compile(arch, &walk, 1, half, NULL, &t), 0);
	expect_cfa(t, 0x800, RSP, 8);
	expect_cfa(t, 0x804, RBP, 16);
	unwind_table_free(t);
	buf_done(&b);
}

/* ---- walking ---- */

struct moment {
	const struct unwind_table *table;
	struct unwind_regs regs;
	uint64_t words[STACK_WORDS]; /* from STACK on */
	size_t nr_words;
	uint64_t without; /* code at this address, up to its next page, has no table */
	uint64_t pcs[FRAMES_MAX];
	size_t nr;
};

static enum unwind_code find(void *ctx, uint64_t pc,
			     const struct unwind_table **ret_table,
			     uint64_t *ret_offset)
{
	const struct moment *m = ctx;

	*ret_offset = pc;
	*ret_table = m->table;
	if (m->without && pc >= m->without && pc - m->without < 0x1000)
		return UNWIND_CODE_WITHOUT;
	return pc >= 0x1000 && pc < 0x2000 ? UNWIND_CODE_WITH_TABLE
					   : UNWIND_CODE_NOWHERE;
}

static void set_reg(struct moment *m, unsigned int slot, uint64_t value)
{
	m->regs.at[slot] = value;
	m->regs.known |= 1ULL << slot;
}

/* Unwinds several stacks at once, each with a limit of one frame less than the one before: the
 * results are those of each alone. */
static void walk_together(const struct moment *m, size_t max)
{
	struct unwind_window window = { .bytes = (const uint8_t *)m->words,
					.len = m->nr_words * sizeof(m->words[0]),
					.start = STACK };
	struct unwind_ops ops[UNWIND_TOGETHER];
	struct unwind_job jobs[UNWIND_TOGETHER];
	struct moment alone[UNWIND_TOGETHER], together[UNWIND_TOGETHER];

	for (size_t i = 0; i < UNWIND_TOGETHER; i++) {
		alone[i] = together[i] = *m;
		ops[i] = (struct unwind_ops){ .find = find, .ctx = &together[i] };
		jobs[i] = (struct unwind_job){
			.moment = { m->table->arch, &window, &ops[i], &together[i].regs,
				    NULL },
			.pcs = together[i].pcs,
			.max = max > i ? max - i : 0,
		};
	}
	unwind_stacks(jobs, UNWIND_TOGETHER);
	for (size_t i = 0; i < UNWIND_TOGETHER; i++) {
		struct unwind_ops own = { .find = find, .ctx = &alone[i] };
		struct unwind_moment moment = { m->table->arch, &window, &own,
						&alone[i].regs, NULL };

		assert_int_equal(
			unwind_stack(&moment, alone[i].pcs, jobs[i].max, &alone[i].nr),
			jobs[i].end);
		together[i].nr = jobs[i].nr;
		assert_memory_equal(&alone[i], &together[i], sizeof(alone[i]));
	}
}

static enum unwind_end walk(struct moment *m, size_t max)
{
	struct unwind_window window = { .bytes = (const uint8_t *)m->words,
					.len = m->nr_words * sizeof(m->words[0]),
					.start = STACK };
	struct unwind_ops ops = { .find = find, .ctx = m };
	struct unwind_moment moment = { m->table->arch, &window, &ops, &m->regs, NULL };

	walk_together(m, max);
	return unwind_stack(&moment, m->pcs, max, &m->nr);
}

static void expect_pcs(const struct moment *m, const uint64_t *pcs, size_t nr)
{
	assert_int_equal(m->nr, nr);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(m->pcs[i], pcs[i]);
}

/* Returns a thread that was stopped after the push in the function at 0x1000. The function at
 * 0x1100 called it, and the thread's first function called that one. */
static struct moment x86_moment(const struct unwind_table *t)
{
	struct moment m = { .table = t, .regs.pc = 0x1001 };

	set_reg(&m, RSP, STACK);
	set_reg(&m, RBP, 0x1234);
	m.words[0] = 0xbeef; /* saved rbp */
	/* The return address in the function at 0x1100, whose frame has 24 bytes more. */
	m.words[1] = 0x1108;
	m.words[5] = 0x1115;
	m.nr_words = STACK_WORDS;
	return m;
}

static void unwinds_to_the_root(void **state)
{
	static const uint64_t pcs[] = { 0x1001, 0x1108, 0x1115 };
	struct buf b = { 0 };
	struct unwind_table *t;
	struct moment m;

	(void)state;
	put_x86(&b);
	t = compile(&b, EM_X86_64, true);
	m = x86_moment(t);
	assert_int_equal(walk(&m, FRAMES_MAX), UNWIND_END_ROOT);
	expect_pcs(&m, pcs, 3);
	assert_int_equal(m.regs.at[RBP], 0xbeef);
	unwind_table_free(t);
	buf_done(&b);
}

static void reports_why_a_stack_ends(void **state)
{
	static const uint64_t pcs[] = { 0x1001, 0x1108, 0x1115 };
	struct buf b = { 0 };
	struct unwind_table *t;
	struct moment m;

	(void)state;
	put_x86(&b);
	t = compile(&b, EM_X86_64, true);
	m = x86_moment(t);
	assert_int_equal(walk(&m, 2), UNWIND_END_LIMIT);
	expect_pcs(&m, pcs, 2);
	m = x86_moment(t);
	m.nr_words = 5;
	assert_int_equal(walk(&m, FRAMES_MAX), UNWIND_END_SHORT);
	expect_pcs(&m, pcs, 2);
	m = x86_moment(t);
	m.words[5] = 0x77777;
	assert_int_equal(walk(&m, FRAMES_MAX), UNWIND_END_ADDRESS);
	expect_pcs(&m, pcs, 2);
	m = x86_moment(t);
	m.words[5] = 0;
	assert_int_equal(walk(&m, FRAMES_MAX), UNWIND_END_ROOT);
	expect_pcs(&m, pcs, 2);
	m = x86_moment(t);
	m.regs.at[RSP] = 0x100;
	assert_int_equal(walk(&m, FRAMES_MAX), UNWIND_END_MEMORY);
	expect_pcs(&m, pcs, 1);
	m = x86_moment(t);
	m.words[5] =
		0x1080; /* between the functions; rbp does not contain a frame pointer */
	assert_int_equal(walk(&m, FRAMES_MAX), UNWIND_END_NO_RULE);
	assert_int_equal(m.nr, 3);
	m = x86_moment(t);
	m.regs.known &= ~(1ULL << RSP);
	assert_int_equal(walk(&m, FRAMES_MAX), UNWIND_END_MEMORY);
	unwind_table_free(t);
	buf_done(&b);
}

/* Code without rules, like that of JIT compilers, is unwound by frame pointers. */
static void uses_frame_pointers_without_rules(void **state)
{
	static const uint64_t pcs[] = { 0x5010, 0x5020, 0x1115 };
	struct buf b = { 0 };
	struct unwind_table *t;
	struct moment m = { .without = 0x5000, .regs.pc = 0x5010 };

	(void)state;
	put_x86(&b);
	m.table = t = compile(&b, EM_X86_64, true);
	set_reg(&m, RSP, STACK);
	set_reg(&m, RBP, STACK + 16);
	m.words[2] = STACK + 48;
	m.words[3] = 0x5020;
	m.words[6] = 0;
	m.words[7] = 0x1115;
	m.nr_words = STACK_WORDS;
	assert_int_equal(walk(&m, FRAMES_MAX), UNWIND_END_ROOT);
	expect_pcs(&m, pcs, 3);
	unwind_table_free(t);
	buf_done(&b);
}

/* A signal frame gives registers by expressions. Its caller can be at the first instruction of a
 * function, which does not follow a call. */
static void unwinds_through_a_signal(void **state)
{
	/* For the interrupted instruction at 0x1100 the walk gives 0x1101, because users of a
	 * frame look up the byte before its address, as for a return address. */
	static const uint64_t pcs[] = { 0x1200, 0x1101, 0x1115 };
	static const char signal[] =
		"\x0f\x03\x77\x20\x06"  /* CFA: what is at rsp + 32 */
		"\x10\x10\x02\x77\x08"; /* pc: at rsp + 8 */
	struct buf b = { 0 };
	struct unwind_table *t;
	struct moment m = { .regs.pc = 0x1200 };
	size_t cie;

	(void)state;
	put_x86(&b);
	cie = put_cie(&b, (struct cie){ "RS", 1, 0x78, 16 }, "", 0);
	FDE(&b, cie, 0x1200, 0x10, signal);
	m.table = t = compile(&b, EM_X86_64, true);
	set_reg(&m, RSP, STACK);
	m.words[1] =
		0x1100; /* its first instruction: the address before it is in no function */
	m.words[4] = STACK + 64;
	m.words[8] = 0x1115;
	m.nr_words = STACK_WORDS;
	assert_int_equal(walk(&m, FRAMES_MAX), UNWIND_END_ROOT);
	expect_pcs(&m, pcs, 3);
	unwind_table_free(t);
	buf_done(&b);
}

/* At the "ret" after "pop %rbp": the rules still give the old location of rbp, below the stack
 * pointer, and the caller's frame is found with it. */
static void handles_already_restored_registers(void **state)
{
	static const uint64_t pcs[] = { 0x1308, 0x1408, 0x1115 };
	static const char popped[] =
		"\x86\x02\x48\x0c\x07\x08"; /* rbp at CFA - 16; CFA: rsp + 8 */
	static const char by_rbp[] = "\x0c\x06\x10\x86\x02"; /* CFA: rbp + 16 */
	struct buf b = { 0 };
	struct unwind_table *t;
	struct moment m = { .regs.pc = 0x1308 };
	size_t cie;

	(void)state;
	put_x86(&b);
	cie = put_cie(&b, (struct cie){ "R", 1, 0x78, 16 }, "\x0c\x07\x08\x90\x01", 5);
	FDE(&b, cie, 0x1300, 0x10, popped);
	FDE(&b, cie, 0x1400, 0x10, by_rbp);
	m.table = t = compile(&b, EM_X86_64, true);
	set_reg(&m, RSP, STACK);
	set_reg(&m, RBP, STACK + 32);
	m.words[0] = 0x1408;
	m.words[4] = STACK + 64;
	m.words[5] = 0x1115;
	m.nr_words = STACK_WORDS;
	assert_int_equal(walk(&m, FRAMES_MAX), UNWIND_END_ROOT);
	expect_pcs(&m, pcs, 3);
	unwind_table_free(t);
	buf_done(&b);
}

/* The return address is in a signed register; the first function is marked as having none. */
static void unwinds_aarch64_leaf_functions(void **state)
{
	static const uint64_t pcs[] = { 0x1004, 0x1104, 0x1204 };
	struct buf b = { 0 };
	struct unwind_table *t;
	struct moment m = { .regs.pc = 0x1004 };
	size_t cie;

	(void)state;
	cie = put_cie(&b, (struct cie){ "R", 4, 0x78, 30 }, "\x0c\x1f\x00", 3);
	FDE(&b, cie, 0x1000, 0x10, "\x2d");
	FDE(&b, cie, 0x1100, 0x10, "\x41\x0e\x10\x9d\x02\x9e\x01");
	FDE(&b, cie, 0x1200, 0x10, "\x07\x1e");
	m.table = t = compile(&b, EM_AARCH64, true);
	set_reg(&m, 31, STACK);
	set_reg(&m, 30, 0x00ab000000001108 - 4);
	m.words[1] = 0x1204;
	m.nr_words = STACK_WORDS;
	/* 0x1104 is a return address: 0x1103 still has no frame. No compiler makes this, so the
	 * walk must end here instead of looping. */
	assert_int_equal(walk(&m, FRAMES_MAX), UNWIND_END_NO_RULE);
	assert_int_equal(m.nr, 2);
	m.regs = (struct unwind_regs){ .pc = 0x1004 };
	set_reg(&m, 31, STACK);
	set_reg(&m, 30, 0x00ab000000001108);
	assert_int_equal(walk(&m, FRAMES_MAX), UNWIND_END_ROOT);
	assert_int_equal(m.pcs[1], 0x1108);
	assert_int_equal(m.pcs[2], pcs[2]);
	/* In a sample without the link register, its earlier content is not used as an address. */
	m.regs.pc = 0x1004;
	m.regs.known = 0;
	set_reg(&m, 31, STACK);
	m.regs.at[30] = 0x1108;
	assert_int_equal(walk(&m, FRAMES_MAX), UNWIND_END_NO_RULE);
	assert_int_equal(m.nr, 1);
	unwind_table_free(t);
	buf_done(&b);
}

/* The caller's stack pointer is not the CFA here. */
static void unwinds_s390x_frames(void **state)
{
	static const uint64_t pcs[] = { 0x1006, 0x1106, 0x1206 };
	struct buf b = { 0 };
	struct unwind_table *t;
	struct moment m = { .regs.pc = 0x1006 };
	size_t cie;

	(void)state;
	/* CFA: r15 + 160 */
	cie = put_cie(&b, (struct cie){ "R", 1, 0x78, 14 }, "\x0c\x0f\xa0\x01", 4);
	FDE(&b, cie, 0x1000, 0x10, "");
	/* 16 bytes more; r14 at CFA - 160 - 16 + 24 */
	FDE(&b, cie, 0x1100, 0x10, "\x0e\xb0\x01\x8e\x13");
	FDE(&b, cie, 0x1200, 0x10, "\x07\x0e");
	m.table = t = compile(&b, EM_S390, true);
	set_reg(&m, 15, STACK);
	set_reg(&m, 14, 0x1106);
	m.words[3] = 0x1206;
	m.nr_words = STACK_WORDS;
	assert_int_equal(walk(&m, FRAMES_MAX), UNWIND_END_ROOT);
	expect_pcs(&m, pcs, 3);
	assert_int_equal(m.regs.at[15], STACK + 16);
	unwind_table_free(t);
	buf_done(&b);
}

/* ---- expressions ---- */

static bool no_memory(void *ctx, uint64_t address, unsigned int bytes,
		      uint64_t *ret_value)
{
	(void)ctx;
	*ret_value = address * 2 + bytes;
	return address < 0x1000;
}

static int evaluate(const char *code, size_t len, uint64_t *ret_value)
{
	static const uint64_t registers[UNWIND_REGS] = { [7] = 0x100, [16] = 0x1b };
	struct unwind_expr_env env = { .arch = unwind_arch_of_elf(EM_X86_64, true),
				       .swap = __BYTE_ORDER__ !=
					       __ORDER_LITTLE_ENDIAN__,
				       .registers = registers,
				       .known = 1 << 7 | 1 << 16,
				       .read = no_memory };

	return unwind_expr((const uint8_t *)code, len, &env, false, 0, ret_value);
}
#define EVALUATE(code, ret) evaluate(code, sizeof(code) - 1, ret)

static void evaluates_expressions(void **state)
{
	uint64_t v;

	(void)state;
	/* The PLT rule of linkers: rsp + 8, and 8 more after the push at 11. */
	assert_int_equal(EVALUATE("\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22", &v),
			 0);
	assert_int_equal(v, 0x110);
	/* -7 / 2, and the remainder of 7 by 4 */
	assert_int_equal(EVALUATE("\x09\xf9\x32\x1b", &v), 0);
	assert_int_equal(v, (uint64_t)-3);
	assert_int_equal(EVALUATE("\x37\x34\x1d", &v), 0);
	assert_int_equal(v, 3);
	/* memory: 8 bytes, then 4 */
	assert_int_equal(EVALUATE("\x3f\x06", &v), 0);
	assert_int_equal(v, 38);
	assert_int_equal(EVALUATE("\x3f\x94\x04", &v), 0);
	assert_int_equal(v, 34);
	/* if (1) 5 else 6 */
	assert_int_equal(EVALUATE("\x31\x28\x04\x00\x36\x2f\x01\x00\x35", &v), 0);
	assert_int_equal(v, 5);
	/* over, swap, rot: 1 2 3 -> 3 1 2 */
	assert_int_equal(EVALUATE("\x31\x32\x33\x17\x13\x13", &v), 0);
	assert_int_equal(v, 3);
}

static void rejects_unsupported_expressions(void **state)
{
	uint64_t v;

	(void)state;
	assert_int_equal(EVALUATE("", &v), -EBADMSG);
	assert_int_equal(EVALUATE("\x22", &v), -EBADMSG);
	assert_int_equal(EVALUATE("\x31\x30\x1b", &v), -EBADMSG); /* by zero */
	assert_int_equal(EVALUATE("\x31\x30\x1d", &v), -EBADMSG);
	assert_int_equal(EVALUATE("\x2f\xfd\xff", &v), -EBADMSG);     /* endless */
	assert_int_equal(EVALUATE("\x31\x2f\xfc\xff", &v), -EBADMSG); /* and grows */
	assert_int_equal(EVALUATE("\x2f\x7f\x7f", &v), -EBADMSG);
	assert_int_equal(EVALUATE("\x0e\x01\x02", &v), -EBADMSG); /* cut */
	assert_int_equal(EVALUATE("\xf1", &v), -EBADMSG);
	assert_int_equal(EVALUATE("\x71\x00", &v), -ENODATA); /* rdx is not known */
	assert_int_equal(EVALUATE("\x0b\xff\x7f\x06", &v), -ENODATA);
	assert_int_equal(EVALUATE("\x31\x94\x09", &v), -EBADMSG);
}

static void knows_the_machines(void **state)
{
	(void)state;
	assert_string_equal(unwind_arch_of_machine("x86_64", false)->name, "x86-64");
	assert_string_equal(unwind_arch_of_machine("x86_64", true)->name, "i386");
	assert_string_equal(unwind_arch_of_machine("i686", true)->name, "i386");
	assert_string_equal(unwind_arch_of_machine("armv7l", true)->name, "ARM");
	assert_string_equal(unwind_arch_of_machine("aarch64", true)->name, "ARM");
	assert_string_equal(unwind_arch_of_machine("aarch64", false)->name, "AArch64");
	assert_string_equal(unwind_arch_of_machine("ppc64le", false)->name, "ppc64");
	assert_null(unwind_arch_of_machine("s390x", true));
	assert_null(unwind_arch_of_machine("", false));
	assert_null(unwind_arch_of_elf(EM_68K, false));
}

static void handles_allocation_failure(void **state)
{
	const struct unwind_arch *arch = unwind_arch_of_elf(EM_X86_64, true);
	struct buf b = { 0 };

	(void)state;
	put_x86(&b);
	for (unsigned long n = 1;; n++) {
		struct cfi_walk walk =
			cfi_walk_of(b.data, b.len, 0, true,
				    __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__, false);
		struct unwind_table *t = NULL;
		int r;

		alloc_fail_at(n);
		r = unwind_table_compile(arch, &walk, 1, same, NULL, &t);
		if (!alloc_fail_off()) {
			assert_int_equal(r, 0);
			unwind_table_free(t);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_rows_of_a_function),
		cmocka_unit_test(converts_addresses_to_offsets),
		cmocka_unit_test(unwinds_to_the_root),
		cmocka_unit_test(reports_why_a_stack_ends),
		cmocka_unit_test(uses_frame_pointers_without_rules),
		cmocka_unit_test(unwinds_through_a_signal),
		cmocka_unit_test(handles_already_restored_registers),
		cmocka_unit_test(unwinds_aarch64_leaf_functions),
		cmocka_unit_test(unwinds_s390x_frames),
		cmocka_unit_test(evaluates_expressions),
		cmocka_unit_test(rejects_unsupported_expressions),
		cmocka_unit_test(knows_the_machines),
		cmocka_unit_test(handles_allocation_failure),
	};

	return UNIT_RUN(tests);
}
